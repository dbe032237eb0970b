/** Tests of where map outputs are kept: memory, files or both, and what that takes of either. */
package io.rdmashuffle.it.tiers;
