package io.rdmashuffle.it.linkage;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Class files by name, from where a class loader would take them, and what links with what. */
final class Classes {
  private final ClassLoader loader;
  private final Map<String, Optional<ClassFile>> known = new HashMap<>();

  Classes(ClassLoader loader) {
    this.loader = loader;
  }

  /** The class of that name, with slashes; empty when there is none. */
  Optional<ClassFile> find(String name) {
    return known.computeIfAbsent(name, this::read);
  }

  private Optional<ClassFile> read(String name) {
    try (InputStream in = loader.getResourceAsStream(name + ".class")) {
      return in == null ? Optional.empty() : Optional.of(ClassFile.read(in));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + name, e);
    }
  }

  /** Everything that would fail when the class is linked and run; empty when nothing would. */
  List<String> problems(ClassFile user) {
    List<String> problems = new ArrayList<>();
    for (Reference reference : user.references()) {
      problem(reference).ifPresent(problem -> problems.add(user.name() + ": " + problem));
    }
    for (Member site : user.lambdas()) {
      lambdaProblem(site).ifPresent(problem -> problems.add(user.name() + ": " + problem));
    }
    if (!user.isAbstract()) {
      for (Member missing : unimplemented(user)) {
        problems.add(user.name() + ": does not implement " + missing);
      }
    }
    return problems;
  }

  private Optional<String> problem(Reference reference) {
    Optional<ClassFile> owner = find(reference.owner());
    if (owner.isEmpty()) {
      return Optional.of("no class " + reference.owner());
    }
    Member member = reference.member();
    if (member == null) {
      return Optional.empty();
    }
    if (member.isMethod() && owner.get().isInterface() != reference.ownerIsInterface()) {
      return Optional.of(reference.owner() + " is no longer of the kind it was: " + reference);
    }
    boolean isThere = lineage(owner.get()).stream().anyMatch(type -> offers(type, member));
    return isThere ? Optional.empty() : Optional.of("no " + reference);
  }

  /** Method handles take any arguments, so that no descriptor of a call is ever declared. */
  private static boolean offers(ClassFile type, Member member) {
    return type.members().containsKey(member)
        || type.name().equals("java/lang/invoke/MethodHandle")
        || type.name().equals("java/lang/invoke/VarHandle");
  }

  /** A lambda fits an interface with that one abstract method. */
  private Optional<String> lambdaProblem(Member site) {
    Optional<ClassFile> type = find(site.lambdaInterface());
    if (type.isEmpty() || !type.get().isInterface()) {
      return Optional.empty(); // a concatenation of strings, or a record's method
    }
    List<String> names = unimplemented(type.get()).stream().map(Member::name).distinct().toList();
    return names.equals(List.of(site.name()))
        ? Optional.empty()
        : Optional.of("a lambda for " + site + ", which has the abstract methods " + names);
  }

  /** Abstract methods that no class or interface of its lineage implements. */
  private List<Member> unimplemented(ClassFile type) {
    List<ClassFile> lineage = lineage(type);
    return lineage.stream()
        .flatMap(ancestor -> ancestor.members().entrySet().stream())
        .filter(entry -> entry.getKey().isMethod() && Modifier.isAbstract(entry.getValue()))
        .map(Map.Entry::getKey)
        .distinct()
        .filter(method -> lineage.stream().noneMatch(ancestor -> implementsIt(ancestor, method)))
        .toList();
  }

  private static boolean implementsIt(ClassFile type, Member method) {
    Integer access = type.members().get(method);
    return access != null && !Modifier.isAbstract(access);
  }

  /** The class, those it extends, and all their interfaces; interfaces are objects as well. */
  private List<ClassFile> lineage(ClassFile type) {
    Map<String, ClassFile> all = new LinkedHashMap<>();
    addLineage(type, all);
    find("java/lang/Object").ifPresent(object -> all.put(object.name(), object));
    return new ArrayList<>(all.values());
  }

  private void addLineage(ClassFile type, Map<String, ClassFile> all) {
    if (all.putIfAbsent(type.name(), type) == null) {
      if (type.superName() != null) {
        find(type.superName()).ifPresent(parent -> addLineage(parent, all));
      }
      type.interfaces().forEach(name -> find(name).ifPresent(parent -> addLineage(parent, all)));
    }
  }
}
