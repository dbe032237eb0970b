package io.rdmashuffle.store;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Slabs of registered memory within a budget, and the extents lent from them.
 *
 * <p>Slabs are created when they are needed and registered once with every available transport,
 * before the first extent of them is lent. They are never given back before {@link #close()}. The
 * last slab is smaller when less than {@code slabLength} is left of the budget. When a slab cannot
 * be created the budget counts as spent, and creation is tried again after a while.
 *
 * <p>All methods may be called from any thread. Two locks: {@code lock} for the books, held for
 * O(log n) steps and never across a call of foreign code; {@code creationLock} for the slow making
 * of a slab. The latter is always taken first.
 */
public final class SlabPool implements AutoCloseable {
  /** Extents begin at a multiple of this many bytes and are one long: a cache line. */
  public static final int ALIGNMENT = 64;

  /** A slab for the rest of the budget is not worth registering below this many bytes. */
  static final int MIN_SLAB_LENGTH = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(SlabPool.class);
  private static final int PAGE = SlabMemory.HEADER_LENGTH;
  private static final int SMALLEST_SLAB = 2 * PAGE;

  /** Extents whose quarantine ends under one hold of the lock. */
  private static final int RECLAIM_BATCH = 64;

  /** So that a caller whom a quarantine that has ended does not help makes no haste. */
  private static final long SHORTEST_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long FIRST_BACKOFF_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_BACKOFF_NS = TimeUnit.SECONDS.toNanos(60);

  private final String name;
  private final SlabFactory factory;
  private final SlabRegistrar registrar;
  private final long budgetBytes;
  private final int slabLength;
  private final LongSupplier nanoClock;
  private final List<Consumer<SlabTable>> listeners = new CopyOnWriteArrayList<>();

  // Guarded by creationLock.
  private final ReentrantLock creationLock = new ReentrantLock();
  private long backoffNs;
  private long retryNs;

  // Guarded by lock.
  private final Object lock = new Object();
  private final Map<Integer, Slab> slabs = new HashMap<>();
  private final FreeExtents free = new FreeExtents();
  private final Quarantine<Extent> quarantine;
  private long slabBytes;
  private long allocatedBytes;
  private int allocatedExtents;
  private boolean isClosed;

  // Written under creationLock: the table before, the count after a slab's bytes can be lent.
  private volatile SlabTable table = SlabTable.EMPTY;
  private volatile long slabsAdded;

  /**
   * @param name of the pool, for log lines
   * @param factory makes the memory; stays the caller's
   * @param transports to register slabs with; unavailable ones are left out; stay the caller's
   * @param access what registrations permit
   * @param budgetBytes most bytes of slabs; 0 or less than two pages means no memory at all
   * @param slabLength bytes of a slab, a multiple of 4096
   * @param quarantine how long {@linkplain #retire retired} extents linger
   */
  public SlabPool(
      String name,
      SlabFactory factory,
      List<Transport> transports,
      Access access,
      long budgetBytes,
      int slabLength,
      Duration quarantine) {
    this(
        name,
        factory,
        transports,
        access,
        budgetBytes,
        slabLength,
        quarantine.toNanos(),
        System::nanoTime);
  }

  SlabPool(
      String name,
      SlabFactory factory,
      List<Transport> transports,
      Access access,
      long budgetBytes,
      int slabLength,
      long quarantineNs,
      LongSupplier nanoClock) {
    if (budgetBytes < 0) {
      throw new IllegalArgumentException("budgetBytes=" + budgetBytes + " < 0");
    }
    if (slabLength < SMALLEST_SLAB || slabLength % PAGE != 0) {
      throw new IllegalArgumentException(
          "slabLength=" + slabLength + " is not a multiple of " + PAGE + " from " + SMALLEST_SLAB);
    }
    this.name = Objects.requireNonNull(name, "name");
    this.factory = Objects.requireNonNull(factory, "factory");
    this.registrar = new SlabRegistrar("pool " + name, transports, access);
    this.budgetBytes = budgetBytes;
    this.slabLength = slabLength;
    this.quarantine = new Quarantine<>(quarantineNs);
    this.nanoClock = nanoClock;
  }

  /**
   * Lends an extent, creating a slab when no existing one holds {@code preferredBytes} and the
   * budget allows. Waits at most for the creation of slabs, and not even for that when an existing
   * slab holds {@code minBytes} and another thread is creating already.
   *
   * @param minBytes fewest bytes that serve, at least 1
   * @param preferredBytes bytes wished for, at least {@code minBytes}
   * @return at least {@code minBytes}, and no more than {@code preferredBytes} rounded up to {@link
   *     #ALIGNMENT}; null when the budget is spent
   */
  public Extent allocate(long minBytes, long preferredBytes) {
    checkRequest(minBytes, preferredBytes);
    if (minBytes > maxExtentLength()) {
      return null;
    }
    int min = align(minBytes);
    int preferred = align(Math.min(preferredBytes, maxExtentLength()));
    while (true) {
      long slabsSeen = slabsAdded;
      Extent extent = lend(preferred, preferred);
      if (extent != null) {
        return extent;
      }
      if (!creationLock.tryLock()) {
        extent = lend(min, preferred);
        if (extent != null) {
          return extent;
        }
        creationLock.lock();
      }
      try {
        // Whoever held the lock before may have added the slab that we miss.
        if (slabsSeen == slabsAdded && !createSlab(min)) {
          return lend(min, preferred);
        }
      } finally {
        creationLock.unlock();
      }
    }
  }

  /**
   * Like {@link #allocate} from the slabs that exist: never waits, so it may be called by a poller.
   */
  public Extent tryAllocate(long minBytes, long preferredBytes) {
    checkRequest(minBytes, preferredBytes);
    if (minBytes > maxExtentLength()) {
      return null;
    }
    return lend(align(minBytes), align(Math.min(preferredBytes, maxExtentLength())));
  }

  /**
   * Adds the first slab if the budget allows and there is none: ahead of need, so that nobody waits
   * for it. May take tens of milliseconds.
   */
  public void prepare() {
    addSlab(0);
  }

  /**
   * Adds one slab if the budget allows; for callers that gather several extents.
   *
   * @param slabsSeen {@link #slabsAdded()} before the caller found too little
   * @return whether there is a slab more than the caller saw
   */
  boolean addSlab(long slabsSeen) {
    creationLock.lock();
    try {
      return slabsSeen != slabsAdded || createSlab(1);
    } finally {
      creationLock.unlock();
    }
  }

  /**
   * Makes a lent extent longer by what lies unused directly behind it.
   *
   * @return bytes gained: 0, or at least {@code minBytes} and at most {@code preferredBytes}
   *     rounded up to {@link #ALIGNMENT}
   */
  public int extend(Extent extent, long minBytes, long preferredBytes) {
    checkRequest(minBytes, preferredBytes);
    if (minBytes > maxExtentLength()) {
      return 0;
    }
    int min = align(minBytes);
    int preferred = align(Math.min(preferredBytes, maxExtentLength()));
    synchronized (lock) {
      checkLent(extent);
      if (isClosed) {
        return 0;
      }
      int gained =
          free.takeAt(FreeExtents.address(extent.slab().id(), extent.end()), min, preferred);
      extent.length += gained;
      allocatedBytes += gained;
      return gained;
    }
  }

  /**
   * Gives the end of a lent extent back at once; nobody but the owner may have known of it.
   *
   * @param usedLength bytes to keep, at least 1; rounded up to {@link #ALIGNMENT}
   */
  public void trim(Extent extent, int usedLength) {
    if (usedLength < 1 || usedLength > extent.length()) {
      throw new IllegalArgumentException("usedLength=" + usedLength + " of " + extent);
    }
    int kept = align(usedLength);
    synchronized (lock) {
      checkLent(extent);
      int rest = extent.length - kept;
      if (rest > 0) {
        int restOffset = extent.offset() + kept;
        extent.length = kept;
        allocatedBytes -= rest;
        if (!isClosed) {
          free.add(FreeExtents.address(extent.slab().id(), restOffset), rest);
        }
      }
    }
  }

  /** Takes an extent back at once: nobody reads or writes it any more, no peer knows of it. */
  public void free(Extent extent) {
    boolean isLast;
    synchronized (lock) {
      isLast = takeBack(extent);
      extent.state = Extent.State.GONE;
      if (!isClosed) {
        addFree(extent);
      }
    }
    if (isLast) {
      extent.slab().closeMemory();
    }
  }

  /** Takes an extent back that peers may still be reading: it lingers before it is lent again. */
  public void retire(Extent extent) {
    long nowNs = nanoClock.getAsLong();
    boolean isLast;
    synchronized (lock) {
      isLast = takeBack(extent);
      if (isClosed) {
        extent.state = Extent.State.GONE;
      } else {
        extent.state = Extent.State.LINGERING;
        quarantine.add(extent, extent.length(), nowNs);
        // Else a pool with room to spare would remember every extent there ever was.
        reclaimSome(nowNs);
      }
    }
    if (isLast) {
      extent.slab().closeMemory();
    }
  }

  /**
   * Waits for the end of the next quarantine, unless that comes after the deadline.
   *
   * @return whether one has ended, so that {@link #allocate} may find more than before
   */
  public boolean awaitReclaimable(Deadline deadline) {
    long leftNs;
    synchronized (lock) {
      leftNs = quarantine.firstExpiresInNs(nanoClock.getAsLong());
    }
    if (deadline.isOver() || leftNs > deadline.remainingNs()) {
      return false;
    }
    try {
      TimeUnit.NANOSECONDS.sleep(Math.max(leftNs, SHORTEST_WAIT_NS));
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Bytes that could be lent now, in slabs that there are and in those that the budget still
   * admits; not in one piece.
   */
  public long availableBytes() {
    while (true) {
      synchronized (lock) {
        if (isClosed) {
          return 0;
        }
        if (!reclaimSome(nanoClock.getAsLong())) {
          return free.freeBytes() + budgetBytes - slabBytes;
        }
      }
    }
  }

  /** Slabs whose bytes were made available to {@link #tryAllocate} so far. */
  long slabsAdded() {
    return slabsAdded;
  }

  /** The slabs there are; contains every slab of which an extent was ever lent. */
  public SlabTable slabTable() {
    return table;
  }

  /** The slabs mapped now. */
  List<Slab> slabs() {
    synchronized (lock) {
      return List.copyOf(slabs.values());
    }
  }

  /**
   * Asks to be told of every slab added from now on, on the thread that adds it and before an
   * extent of it is lent. Listeners return quickly and do not call back into the pool.
   */
  public void addSlabListener(Consumer<SlabTable> listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
  }

  /** Most bytes of slabs. */
  public long budgetBytes() {
    return budgetBytes;
  }

  /** Bytes of the longest extent the pool could ever lend; 0 when the budget admits no slab. */
  public int maxExtentLength() {
    return Math.max(0, nextSlabLength(0) - PAGE);
  }

  /** Bytes the pool could lend with its whole budget in slabs. */
  public long capacityBytes() {
    long slabCount = budgetBytes / slabLength;
    int rest = nextSlabLength(slabCount * slabLength);
    return slabCount * (slabLength - PAGE) + Math.max(0, rest - PAGE);
  }

  /** What the pool holds now, as one consistent picture. */
  public SlabPoolGauges gauges() {
    synchronized (lock) {
      return new SlabPoolGauges(
          slabs.size(),
          slabBytes,
          allocatedBytes,
          quarantine.bytes(),
          free.freeBytes(),
          allocatedExtents + quarantine.size());
    }
  }

  /**
   * Waits until every extent lent came back.
   *
   * @return false when the deadline passed or the thread was interrupted before
   */
  boolean awaitNothingLent(Deadline deadline) {
    synchronized (lock) {
      while (allocatedExtents > 0) {
        long remainingMs = deadline.remainingMs();
        if (remainingMs == 0) {
          return false;
        }
        try {
          lock.wait(remainingMs);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return false;
        }
      }
      return true;
    }
  }

  /**
   * Lends nothing any more, ends every quarantine, closes the registrations and then the memory. A
   * slab of which an extent is still lent stays mapped until the last one comes back, so nobody
   * ever touches unmapped memory. Idempotent.
   */
  @Override
  public void close() {
    List<Slab> closing;
    creationLock.lock();
    try {
      synchronized (lock) {
        if (isClosed) {
          return;
        }
        isClosed = true;
        quarantine.clear();
        free.clear();
        closing = new ArrayList<>(slabs.values());
      }
    } finally {
      creationLock.unlock();
    }
    closing.forEach(Slab::closeRegistrations);
    for (Slab slab : closing) {
      drain(slab);
    }
  }

  private void drain(Slab slab) {
    int extentsOut;
    synchronized (lock) {
      slab.state = Slab.State.DRAINING;
      extentsOut = slab.extentsOut;
      if (extentsOut == 0) {
        forget(slab);
      }
    }
    if (extentsOut == 0) {
      slab.closeMemory();
    } else {
      LOG.warn(
          "Pool {} is closed while {} extents of {} are in use; it stays mapped until they are"
              + " given back",
          name,
          extentsOut,
          slab);
    }
  }

  private Extent lend(int min, int preferred) {
    while (true) {
      synchronized (lock) {
        if (isClosed) {
          return null;
        }
        FreeExtents.Run run = free.take(min, preferred);
        if (run != null) {
          return lend(run);
        }
        if (!reclaimSome(nanoClock.getAsLong())) {
          return null;
        }
      }
    }
  }

  private Extent lend(FreeExtents.Run run) {
    Slab slab = slabs.get(FreeExtents.slabId(run.address()));
    slab.extentsOut++;
    allocatedExtents++;
    allocatedBytes += run.length();
    return new Extent(slab, FreeExtents.offset(run.address()), run.length());
  }

  /** Ends the quarantine of a bounded number of extents; false when none was due. */
  private boolean reclaimSome(long nowNs) {
    int count = 0;
    while (count < RECLAIM_BATCH) {
      Extent extent = quarantine.pollExpired(nowNs);
      if (extent == null) {
        break;
      }
      extent.state = Extent.State.GONE;
      addFree(extent);
      count++;
    }
    return count > 0;
  }

  private void addFree(Extent extent) {
    free.add(FreeExtents.address(extent.slab().id(), extent.offset()), extent.length());
  }

  /** Returns whether the slab's memory is now the caller's to close, outside the lock. */
  private boolean takeBack(Extent extent) {
    checkLent(extent);
    Slab slab = extent.slab();
    slab.extentsOut--;
    allocatedExtents--;
    allocatedBytes -= extent.length();
    if (allocatedExtents == 0) {
      lock.notifyAll();
    }
    if (slab.extentsOut == 0 && slab.state == Slab.State.DRAINING) {
      forget(slab);
      return true;
    }
    return false;
  }

  private void forget(Slab slab) {
    slab.state = Slab.State.DONE;
    slabs.remove(slab.id());
    slabBytes -= slab.length();
  }

  private void checkLent(Extent extent) {
    if (extent.state != Extent.State.LENT || slabs.get(extent.slab().id()) != extent.slab()) {
      throw new IllegalStateException("not lent by pool " + name + ": " + extent);
    }
  }

  /** Creates a slab that can hold {@code minExtent}; false when there can be none now. */
  private boolean createSlab(int minExtent) {
    long usedBytes;
    synchronized (lock) {
      if (isClosed) {
        return false;
      }
      usedBytes = slabBytes;
    }
    int length = nextSlabLength(usedBytes);
    if (length - PAGE < minExtent || (backoffNs > 0 && nanoClock.getAsLong() - retryNs < 0)) {
      return false;
    }
    SlabMemory memory;
    try {
      memory = factory.create(length);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      onCreationFailed(length, e);
      return false;
    }
    backoffNs = 0;
    add(registrar.register(memory));
    return true;
  }

  private void onCreationFailed(int length, Throwable failure) {
    boolean isFirst = backoffNs == 0;
    backoffNs = isFirst ? FIRST_BACKOFF_NS : Math.min(2 * backoffNs, LONGEST_BACKOFF_NS);
    retryNs = nanoClock.getAsLong() + backoffNs;
    if (isFirst) {
      LOG.warn(
          "Pool {} cannot have a slab of {} bytes and makes do with {} of {}; it tries again"
              + " from time to time: {}",
          name,
          length,
          gauges().slabBytes(),
          budgetBytes,
          failure.toString());
    } else {
      LOG.debug("Pool {} still cannot have a slab of {} bytes", name, length, failure);
    }
  }

  private void add(Slab slab) {
    List<SlabDescriptor> descriptors = new ArrayList<>(table.slabs());
    descriptors.add(slab.descriptor());
    SlabTable newTable = new SlabTable(table.version() + 1, descriptors);
    table = newTable;
    for (Consumer<SlabTable> listener : listeners) {
      try {
        listener.accept(newTable);
      } catch (RuntimeException e) {
        LOG.error("A slab listener of pool {} failed", name, e);
      }
    }
    synchronized (lock) {
      slabs.put(slab.id(), slab);
      slabBytes += slab.length();
      free.add(FreeExtents.address(slab.id(), PAGE), slab.length() - PAGE);
    }
    slabsAdded = newTable.version();
  }

  /** Bytes of the slab that comes next when so many are used; 0 when the rest is too small. */
  private int nextSlabLength(long usedBytes) {
    long rest = Math.min(slabLength, budgetBytes - usedBytes) / PAGE * PAGE;
    long smallest =
        Math.max(SMALLEST_SLAB, Math.min(Math.min(MIN_SLAB_LENGTH, slabLength), budgetBytes));
    // A budget that is no multiple of a page is rounded down, and so is the bound taken from it.
    return rest < smallest / PAGE * PAGE ? 0 : (int) rest;
  }

  private static void checkRequest(long minBytes, long preferredBytes) {
    if (minBytes < 1 || preferredBytes < minBytes) {
      throw new IllegalArgumentException(
          "minBytes=" + minBytes + " preferredBytes=" + preferredBytes);
    }
  }

  /** Rounds up; the argument is at most a slab's data, whose length is a multiple. */
  private static int align(long bytes) {
    return (int) ((bytes + ALIGNMENT - 1) & -ALIGNMENT);
  }
}
