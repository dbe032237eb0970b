package io.rdmashuffle.it.linkage;

/**
 * A field or method as a class file names it.
 *
 * @param descriptor of the JVM's kind, which the return type belongs to
 */
record Member(String name, String descriptor) {
  boolean isMethod() {
    return descriptor.startsWith("(");
  }

  /** Of a call site that makes a lambda: the interface, such as {@code scala/Function1}. */
  String lambdaInterface() {
    String type = descriptor.substring(descriptor.indexOf(')') + 1);
    return type.startsWith("L") ? type.substring(1, type.length() - 1) : "";
  }

  @Override
  public String toString() {
    return name + descriptor;
  }
}
