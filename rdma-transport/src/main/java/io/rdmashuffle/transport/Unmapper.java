package io.rdmashuffle.transport;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;

/**
 * Gives direct memory back at once instead of whenever the collector finds the buffer; {@code
 * sun.misc.Unsafe.invokeCleaner} is the JDK's supported way since 9 and has no other home.
 */
public final class Unmapper {
  private static final MethodHandle INVOKE_CLEANER = find();

  private Unmapper() {}

  /**
   * Unmaps or frees a buffer that was allocated or mapped as a whole; an access to it afterwards,
   * from any thread, is undefined.
   */
  public static void unmap(ByteBuffer buffer) {
    try {
      INVOKE_CLEANER.invokeExact(buffer);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot unmap a buffer", e);
    }
  }

  private static MethodHandle find() {
    try {
      Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
      MethodHandles.Lookup lookup =
          MethodHandles.privateLookupIn(unsafeClass, MethodHandles.lookup());
      Object unsafe = lookup.findStaticGetter(unsafeClass, "theUnsafe", unsafeClass).invoke();
      return lookup
          .findVirtual(
              unsafeClass, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
          .bindTo(unsafe);
    } catch (Throwable e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
