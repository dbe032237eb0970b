package io.rdmashuffle.spark.write;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;

/** Creates map statuses, which take a checksum of the rows from Spark 4.1 on. */
final class MapStatuses {
  private static final MethodHandle APPLY = find();

  private MapStatuses() {}

  /**
   * @param rowChecksum dropped where Spark does not know it
   */
  static MapStatus of(
      BlockManagerId location, long[] partitionLengths, long mapTaskId, long rowChecksum) {
    try {
      return (MapStatus)
          APPLY.invokeExact(MapStatus$.MODULE$, location, partitionLengths, mapTaskId, rowChecksum);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("Spark's MapStatus could not be created", e);
    }
  }

  private static MethodHandle find() {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    MethodType withoutChecksum =
        MethodType.methodType(MapStatus.class, BlockManagerId.class, long[].class, long.class);
    try {
      return lookup.findVirtual(
          MapStatus$.class, "apply", withoutChecksum.appendParameterTypes(long.class));
    } catch (NoSuchMethodException e) {
      try {
        return MethodHandles.dropArguments(
            lookup.findVirtual(MapStatus$.class, "apply", withoutChecksum), 4, long.class);
      } catch (ReflectiveOperationException old) {
        throw new IllegalStateException("Spark's MapStatus has an unexpected shape", old);
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("Spark's MapStatus has an unexpected shape", e);
    }
  }
}
