package io.rdmashuffle.it.linkage;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a class file says about linking: its parents, its members, and what it refers to. Reading it
 * loads nothing, so that a class whose dependencies are missing can be looked at, too.
 *
 * @param superName null for {@code java/lang/Object}
 * @param members with their access flags
 * @param lambdas the method of each interface that a lambda implements; its descriptor's result is
 *     the interface
 */
record ClassFile(
    String name,
    int access,
    String superName,
    List<String> interfaces,
    Map<Member, Integer> members,
    Set<Reference> references,
    Set<Member> lambdas) {
  private static final int MAGIC = 0xCAFEBABE;

  boolean isInterface() {
    return Modifier.isInterface(access);
  }

  boolean isAbstract() {
    return Modifier.isAbstract(access);
  }

  /**
   * Reads one.
   *
   * @throws IOException also when it is no class file, or has entries that this does not know
   */
  static ClassFile read(InputStream stream) throws IOException {
    DataInputStream in = new DataInputStream(stream);
    if (in.readInt() != MAGIC) {
      throw new IOException("no class file");
    }
    in.readInt(); // its version
    Constants constants = Constants.read(in);
    int access = in.readUnsignedShort();
    String name = constants.className(in.readUnsignedShort());
    int superIndex = in.readUnsignedShort();
    List<String> interfaces = new ArrayList<>();
    for (int i = in.readUnsignedShort(); i > 0; i--) {
      interfaces.add(constants.className(in.readUnsignedShort()));
    }
    Map<Member, Integer> members = new HashMap<>();
    readMembers(in, constants, members); // fields
    readMembers(in, constants, members); // methods
    return new ClassFile(
        name,
        access,
        superIndex == 0 ? null : constants.className(superIndex),
        interfaces,
        members,
        constants.references(),
        constants.callSites());
  }

  private static void readMembers(
      DataInputStream in, Constants constants, Map<Member, Integer> members) throws IOException {
    for (int i = in.readUnsignedShort(); i > 0; i--) {
      int access = in.readUnsignedShort();
      String name = constants.text(in.readUnsignedShort());
      members.put(new Member(name, constants.text(in.readUnsignedShort())), access);
      for (int j = in.readUnsignedShort(); j > 0; j--) {
        in.readUnsignedShort(); // the attribute's name
        in.skipNBytes(in.readInt());
      }
    }
  }

  /** The constant pool. */
  private static final class Constants {
    private static final int CLASS = 7;
    private static final int FIELD = 9;
    private static final int METHOD = 10;
    private static final int INTERFACE_METHOD = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int INVOKE_DYNAMIC = 18;

    private final int[] tags;
    // Of each entry the one or two indexes it holds; what holds none of interest stays 0.
    private final int[] first;
    private final int[] second;
    private final String[] texts;

    private Constants(int size) {
      tags = new int[size];
      first = new int[size];
      second = new int[size];
      texts = new String[size];
    }

    static Constants read(DataInputStream in) throws IOException {
      Constants constants = new Constants(in.readUnsignedShort());
      int i = 1;
      while (i < constants.tags.length) {
        i += constants.readEntry(in, i);
      }
      return constants;
    }

    /** Gives the number of indexes it takes. */
    private int readEntry(DataInputStream in, int i) throws IOException {
      tags[i] = in.readUnsignedByte();
      switch (tags[i]) {
        case 1 -> texts[i] = in.readUTF();
        case 3, 4 -> in.readInt();
        case 5, 6 -> in.readLong();
        case CLASS, 8, 16, 19, 20 -> first[i] = in.readUnsignedShort();
        case FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, 17, INVOKE_DYNAMIC -> {
          first[i] = in.readUnsignedShort();
          second[i] = in.readUnsignedShort();
        }
        case 15 -> in.skipNBytes(3);
        default -> throw new IOException("unknown constant of kind " + tags[i]);
      }
      return tags[i] == 5 || tags[i] == 6 ? 2 : 1;
    }

    String text(int index) {
      return texts[index];
    }

    String className(int index) {
      return texts[first[index]];
    }

    private Member member(int nameAndType) {
      return new Member(texts[first[nameAndType]], texts[second[nameAndType]]);
    }

    Set<Reference> references() {
      Set<Reference> all = new LinkedHashSet<>();
      for (int i = 1; i < tags.length; i++) {
        switch (tags[i]) {
          case CLASS -> addClass(className(i), all);
          case FIELD, METHOD, INTERFACE_METHOD -> {
            String owner = className(first[i]);
            if (!owner.startsWith("[")) { // the methods of arrays are Object's
              all.add(new Reference(owner, member(second[i]), tags[i] == INTERFACE_METHOD));
            }
          }
          default -> {}
        }
      }
      return all;
    }

    private static void addClass(String name, Set<Reference> all) {
      String element = name.replaceFirst("^\\[+", "");
      boolean isArray = element.length() < name.length();
      if (!isArray) {
        all.add(new Reference(name, null, false));
      } else if (element.startsWith("L")) {
        all.add(new Reference(element.substring(1, element.length() - 1), null, false));
      }
    }

    Set<Member> callSites() {
      Set<Member> all = new LinkedHashSet<>();
      for (int i = 1; i < tags.length; i++) {
        if (tags[i] == INVOKE_DYNAMIC) {
          all.add(member(second[i]));
        }
      }
      return all;
    }
  }
}
