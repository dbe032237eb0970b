package io.rdmashuffle.it.linkage;

/**
 * What one class needs of another.
 *
 * @param owner the other class, with slashes; never an array
 * @param member null when the class itself is all that is needed
 * @param ownerIsInterface as the member's user was compiled; only with a member
 */
record Reference(String owner, Member member, boolean ownerIsInterface) {
  @Override
  public String toString() {
    return member == null ? owner : owner + '.' + member;
  }
}
