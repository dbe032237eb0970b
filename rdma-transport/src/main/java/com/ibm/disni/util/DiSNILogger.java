package com.ibm.disni.util;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands in for DiSNI's class of this name: DiSNI reports every object it creates or destroys at
 * INFO, which is DEBUG to the users of a shuffle.
 */
public final class DiSNILogger {
  private static final Logger QUIET = quiet(LoggerFactory.getLogger("com.ibm.disni"));

  private DiSNILogger() {}

  public static Logger getLogger() {
    return QUIET;
  }

  private static Logger quiet(Logger target) {
    return (Logger)
        Proxy.newProxyInstance(
            DiSNILogger.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              try {
                return method.getName().equals("info")
                    ? Logger.class
                        .getMethod("debug", method.getParameterTypes())
                        .invoke(target, arguments)
                    : method.invoke(target, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
