package io.rdmashuffle.conf;

import static io.rdmashuffle.conf.ConfigKey.bool;
import static io.rdmashuffle.conf.ConfigKey.dataSize;
import static io.rdmashuffle.conf.ConfigKey.duration;
import static io.rdmashuffle.conf.ConfigKey.enumConstant;
import static io.rdmashuffle.conf.ConfigKey.enumSet;
import static io.rdmashuffle.conf.ConfigKey.integer;
import static io.rdmashuffle.conf.ConfigKey.portRange;
import static io.rdmashuffle.conf.ConfigKey.text;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * All keys of the plugin, and those of SparkRDMA's that are gone.
 *
 * <p>Other modules use these to name a key in a message, never to read one: values come from {@link
 * RdmaShuffleConf}.
 */
public final class ConfigKeys {
  // ---- Transports

  /** See {@link TransportConfig#transports()}. */
  public static final ConfigKey<Set<TransportKind>> TRANSPORTS =
      enumSet("transports", TransportKind.class)
          .defaultsTo("rdma,shm,tcp")
          .since("0.1")
          .doc(
              "How remote blocks may be read: `rdma` between hosts, `shm` between executors on one"
                  + " host, `tcp` through Spark's own Netty service. The order does not matter."
                  + " TCP remains the last resort even where the list leaves it out: `rdma` alone"
                  + " means RDMA where possible, TCP otherwise; `tcp` alone turns one-sided reads"
                  + " off.");

  /** See {@link ShuffleConfig#allowCleartext()}. */
  public static final ConfigKey<Boolean> ALLOW_CLEARTEXT =
      bool("allowCleartext")
          .defaultsTo("false")
          .since("0.1")
          .doc(
              "Whether one-sided reads may carry plain bytes when Spark's network encryption is on"
                  + " and `spark.io.encryption.enabled` is off. With `false` such an application"
                  + " reads over TCP, with the reason `CLEARTEXT_FORBIDDEN`; better than `true` is"
                  + " to turn `spark.io.encryption.enabled` on.");

  /** See {@link ShuffleConfig#verifyChecksums()}. */
  public static final ConfigKey<Boolean> VERIFY_CHECKSUMS =
      bool("verifyChecksums")
          .defaultsTo("false")
          .since("0.1")
          .doc(
              "Whether the reducer compares every partition it read one-sided with Spark's own"
                  + " checksum of it. Off by default: links and memory have checks of their own,"
                  + " every read is checked against the generation of its map output, and this"
                  + " costs a pass over all bytes.");

  // ---- Memory

  /** See {@link BlockStoreConfig#memorySizeBytes()}. */
  public static final ConfigKey<Optional<DataSize>> MEMORY_SIZE =
      dataSize("memory.size")
          .between("0", "16t")
          .orAuto()
          .defaultsTo("auto")
          .replaces("shuffleWriteMaxInMemoryStoragePerExecutor")
          .since("0.1")
          .doc(
              "Registered memory for map outputs, per executor, outside the Java heap. What does"
                  + " not fit goes to Spark's usual files. It is spent in whole slabs, so what is"
                  + " left over below one slab stays unused. `0` means files only; otherwise not"
                  + " below `memory.slabSize`. `auto` works it out at start from what the host and"
                  + " the container allow, and logs it.");

  /** See {@link BlockStoreConfig#slabSizeBytes()}. */
  public static final ConfigKey<DataSize> MEMORY_SLAB_SIZE =
      dataSize("memory.slabSize")
          .defaultsTo("64m")
          .between("1m", "1g")
          .must(DataSize::isPowerOfTwo, "a power of two")
          .since("0.1")
          .doc(
              "Size of one slab, the unit in which memory is mapped and registered. Registration"
                  + " costs time and a slot in the card per slab: at 64m a budget of 64g takes"
                  + " 1,024 of them, far below the limits of cards and of `vm.max_map_count`"
                  + " (65,530). Smaller wastes less at the end of small budgets.");

  /** See {@link BlockStoreConfig#memoryDir()}. */
  public static final ConfigKey<String> MEMORY_DIR =
      text("memory.dir", Pattern.compile("/[^\\x00]*"), "an absolute path")
          .defaultsTo("/dev/shm")
          .since("0.1")
          .doc(
              "Where slabs are mapped: a directory on tmpfs or hugetlbfs. Their files are unlinked"
                  + " as soon as they exist, so nothing is left behind even after `kill -9`. In a"
                  + " container `/dev/shm` is often 64m unless told otherwise.");

  /** See {@link BlockStoreConfig#quarantineNs()}. */
  public static final ConfigKey<Duration> MEMORY_QUARANTINE =
      duration("memory.quarantine")
          .defaultsTo("15s")
          .between("20ms", "1h")
          .since("0.1")
          .doc(
              "How long freed map-output memory lies idle before it is used again. A one-sided"
                  + " read is invisible to the memory's owner, so this must be longer than any"
                  + " reader's deadline: above `read.timeout`. The default is that deadline and"
                  + " half of it again, for readers that were stopped in between. Where no"
                  + " RDMA device is in use memory lies idle for one second at most, since over"
                  + " shared memory a read that comes late is noticed whenever it comes. Files"
                  + " that are read one-sided stay open for the whole time.");

  /** See {@link BlockStoreConfig#receiveSizeBytes()}. */
  public static final ConfigKey<DataSize> MEMORY_RECEIVE_SIZE =
      dataSize("memory.receiveSize")
          .defaultsTo("256m")
          .between("1m", "1t")
          .since("0.1")
          .doc(
              "Registered memory for blocks that have been read and not yet consumed, per"
                  + " executor, outside the Java heap, in slabs of `memory.slabSize`; one slab at"
                  + " least. A reducer waits when it is spent. The default is twice"
                  + " `maxBytesInFlight`: as much again lies with the tasks while the next reads"
                  + " are under way.");

  /** See {@link ShuffleConfig#indexCacheSizeBytes()}. */
  public static final ConfigKey<DataSize> INDEX_CACHE_SIZE =
      dataSize("index.cacheSize")
          .defaultsTo("64m")
          .between("0", "64g")
          .since("0.1")
          .doc(
              "Java heap for index blocks of map outputs that were read before, per executor; `0`"
                  + " keeps none. An index block takes 8 bytes per partition, 16 with checksums:"
                  + " the default holds those of 4,000 maps with 1,000 partitions each.");

  // ---- Durability

  /** See {@link BlockStoreConfig#durability()}. */
  public static final ConfigKey<Optional<Durability>> DURABILITY =
      enumConstant("durability", Durability.class)
          .orAuto()
          .defaultsTo("auto")
          .since("0.1")
          .doc(
              "Where a map output is kept. `memory`: in registered memory, and in Spark's files only"
                  + " when the budget is short. `memory-and-disk`: in registered memory, and soon"
                  + " after in Spark's files too, written by a thread in the background; an external"
                  + " shuffle service then finds it when the executor is gone. What is not written"
                  + " yet when a process dies is lost, and computed again. `disk`: in Spark's files"
                  + " only. `auto` is `memory-and-disk` with `spark.shuffle.service.enabled`, else"
                  + " `memory`.");

  /** See {@link BlockStoreConfig#writeBehindSizeBytes()}. */
  public static final ConfigKey<DataSize> WRITE_BEHIND_SIZE =
      dataSize("writeBehind.size")
          .defaultsTo("256m")
          .between("0", "16t")
          .since("0.1")
          .doc(
              "Bytes of map outputs, per executor, that may wait for the background thread of"
                  + " `memory-and-disk`. Beyond that a task waits for up to `writeBehind.timeout`,"
                  + " and then writes the files itself. The default is what a disk of 100 MB/s"
                  + " writes in 3 s, well within the 10 s that an executor has for its end. `0`:"
                  + " each task writes its files itself.");

  /** See {@link BlockStoreConfig#writeBehindTimeoutNs()}. */
  public static final ConfigKey<Duration> WRITE_BEHIND_TIMEOUT =
      duration("writeBehind.timeout")
          .defaultsTo("1s")
          .between("0", "10min")
          .since("0.1")
          .doc(
              "How long a task waits for room in the queue of `writeBehind.size` before it writes"
                  + " its files itself. A short wait lets one thread write one file after the other;"
                  + " a long one leaves a processor idle.");

  /** See {@link BlockStoreConfig#filesMaxRegions()}. */
  public static final ConfigKey<Integer> FILES_MAX_REGIONS =
      integer("files.maxRegions")
          .defaultsTo("512")
          .between("0", "32768")
          .since("0.1")
          .doc(
              "Files of map outputs, per executor, that other executors read one-sided: mapped, kept"
                  + " open, and registered with the RDMA device if there is one. A file over 1g"
                  + " counts once for each gibibyte. Those beyond come over TCP. The default leaves"
                  + " most of a limit of 4,096 open files to Spark. `0`: files come over TCP only.");

  /** See {@link BlockStoreConfig#filesMaxSizeBytes()}. */
  public static final ConfigKey<DataSize> FILES_MAX_SIZE =
      dataSize("files.maxSize")
          .defaultsTo("8g")
          .between("0", "16t")
          .since("0.1")
          .doc(
              "Bytes of the files of `files.maxRegions`, per executor. Over shared memory this takes"
                  + " no memory but what the page cache has anyway. With an RDMA device the files stay"
                  + " in memory while they are registered: it is then lowered, and says so in the"
                  + " log, to what the container and the overhead leave. `0`: files come over TCP"
                  + " only.");

  // ---- Deadlines

  /** See {@link TransportConfig#connectTimeoutNs()}. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      deadline("connect.timeout")
          .defaultsTo("3s")
          .replaces("rdmaCmEventTimeout")
          .since("0.1")
          .doc(
              "From the first step towards a peer until its queue pair is ready; after that its"
                  + " blocks come over TCP. Milliseconds suffice on a healthy fabric; 3s leaves"
                  + " room for ARP or a path query to be retried.");

  /** See {@link TransportConfig#readTimeoutNs()}. */
  public static final ConfigKey<Duration> READ_TIMEOUT =
      deadline("read.timeout")
          .defaultsTo("10s")
          .since("0.1")
          .doc(
              "From posting a batch of reads to its completion; after that the peer's blocks come"
                  + " over TCP. The card's own retries (`retryCount`, `ackTimeout`) should end"
                  + " before, so that the true error is seen. Keep it well below"
                  + " `spark.network.timeout` and below `memory.quarantine`.");

  /** See {@link ShuffleConfig#locateTimeoutNs()}. */
  public static final ConfigKey<Duration> LOCATE_TIMEOUT =
      deadline("locate.timeout")
          .defaultsTo("10s")
          .replaces("partitionLocationFetchTimeout")
          .since("0.1")
          .doc(
              "For the driver to answer where map outputs lie; after that they come over TCP. Long"
                  + " enough for a driver in a full garbage collection.");

  /** See {@link ShuffleConfig#publishTimeoutNs()}. */
  public static final ConfigKey<Duration> PUBLISH_TIMEOUT =
      deadline("publish.timeout")
          .defaultsTo("10s")
          .since("0.1")
          .doc(
              "For the driver to acknowledge the address of a map output; after that the output"
                  + " stays unpublished and is read over TCP. The map task waits this long at"
                  + " worst.");

  /** See {@link ShuffleConfig#stopTimeoutNs()}. */
  public static final ConfigKey<Duration> STOP_TIMEOUT =
      deadline("stop.timeout")
          .defaultsTo("10s")
          .since("0.1")
          .doc(
              "For connections, pollers and memory to be given back when the application stops;"
                  + " what is left then goes with the process.");

  // ---- Flow control

  /** See {@link ShuffleConfig#maxBytesInFlightPerPeer()}. */
  public static final ConfigKey<DataSize> MAX_BYTES_IN_FLIGHT_PER_PEER =
      dataSize("maxBytesInFlightPerPeer")
          .defaultsTo("32m")
          .between("4k", "1t")
          .since("0.1")
          .doc(
              "Bytes asked of one peer and not yet arrived, over all tasks of an executor. A"
                  + " 100 Gb/s link moves 12.5m in a millisecond, so the default keeps it busy"
                  + " over pauses of 2.5 ms. Lower it where many executors read from one and the"
                  + " fabric drops or pauses; not below `readChunkSize`.");

  /** See {@link ShuffleConfig#maxBytesInFlight()}. */
  public static final ConfigKey<DataSize> MAX_BYTES_IN_FLIGHT =
      dataSize("maxBytesInFlight")
          .defaultsTo("128m")
          .between("4k", "1t")
          .since("0.1")
          .doc(
              "Bytes asked of all peers and not yet arrived, over all tasks of an executor; the"
                  + " bound on incast at the reader. Not below `maxBytesInFlightPerPeer`; the"
                  + " default lets four peers send at full speed. SparkRDMA's key of this name"
                  + " bounds one task.");

  /** See {@link ShuffleConfig#maxReadsInFlightPerPeer()}. */
  public static final ConfigKey<Integer> MAX_READS_IN_FLIGHT_PER_PEER =
      integer("maxReadsInFlightPerPeer")
          .defaultsTo("256")
          .between("1", "65535")
          .since("0.1")
          .doc(
              "Reads asked of one peer and not yet arrived, over all tasks of an executor: the"
                  + " bound that counts when blocks are small. Not above `queueDepth`.");

  /** See {@link ShuffleConfig#readChunkSizeBytes()}. */
  public static final ConfigKey<DataSize> READ_CHUNK_SIZE =
      dataSize("readChunkSize")
          .defaultsTo("1m")
          .between("4k", "1g")
          .since("0.1")
          .doc(
              "The largest single read; longer ones are split. At 1m the cost per read is already"
                  + " lost in the 80 µs the bytes take at 100 Gb/s, while a peer still serves"
                  + " several readers fairly. Not above `memory.slabSize`, where it must find one"
                  + " contiguous place, nor above `maxBytesInFlightPerPeer`.");

  /** See {@link ShuffleConfig#peerBackoffNs()}. */
  public static final ConfigKey<Duration> PEER_BACKOFF =
      duration("peer.backoff")
          .defaultsTo("1s")
          .between("10ms", "1h")
          .since("0.1")
          .doc(
              "How long a peer is left to TCP after its first failure; doubles with each further"
                  + " one up to `peer.maxBackoff`.");

  /** See {@link ShuffleConfig#peerMaxBackoffNs()}. */
  public static final ConfigKey<Duration> PEER_MAX_BACKOFF =
      duration("peer.maxBackoff")
          .defaultsTo("60s")
          .between("10ms", "1h")
          .since("0.1")
          .doc(
              "The longest time a failing peer is left to TCP. A peer that stays broken costs one"
                  + " `connect.timeout` in this time: 5 % by default. Not below `peer.backoff`.");

  // ---- RDMA device and connections

  /** See {@link TransportConfig#device()}. */
  public static final ConfigKey<String> DEVICE =
      text(
              "device",
              Pattern.compile("[A-Za-z0-9_.:/%@-]+"),
              "`auto`, or the name of a device or network interface, an address or a subnet")
          .defaultsTo("auto")
          .since("0.1")
          .doc(
              "Which RDMA device to use: a device (`mlx5_0`), a network interface (`eth1`), an IP"
                  + " address or a subnet (`10.1.0.0/16`), whichever is the same on all hosts."
                  + " `auto` takes the one that Spark's own address belongs to, else the first"
                  + " with an active port. The choice, and why others were passed over, is"
                  + " logged.");

  /** See {@link TransportConfig#port()}. */
  public static final ConfigKey<PortRange> PORT =
      portRange("port")
          .defaultsTo("0")
          .replaces("executorPort", ConfigKeys::withSparkPortRetries)
          .since("0.1")
          .doc(
              "Port of the RDMA listener: `0` is any free one, a range such as `47000-47100` its"
                  + " first free one. A range must hold as many ports as executors may share a"
                  + " host; an executor that finds none is read over TCP.");

  /** See {@link TransportConfig#gidIndex()}. */
  public static final ConfigKey<Integer> GID_INDEX =
      integer("gidIndex")
          .defaultsTo("-1")
          .between("-1", "255")
          .since("0.1")
          .doc(
              "Which entry of the device's GID table to use; `-1` picks the RoCE v2 entry of a"
                  + " routable address. Verbs carry it in one byte.");

  /** See {@link TransportConfig#trafficClass()}. */
  public static final ConfigKey<Integer> TRAFFIC_CLASS =
      integer("trafficClass")
          .defaultsTo("-1")
          .between("-1", "255")
          .since("0.1")
          .doc(
              "The traffic class (type of service) byte of RDMA packets; `-1` leaves the system's."
                  + " Its upper 6 bits are the DSCP; on RoCE its upper 3 bits also give the service"
                  + " level, hence the priority that PFC knows. `104` (DSCP 26) is a common choice"
                  + " for priority 3.");

  /** See {@link TransportConfig#ackTimeoutExponent()}. */
  public static final ConfigKey<Integer> ACK_TIMEOUT =
      integer("ackTimeout")
          .defaultsTo("16")
          .between("1", "21")
          .since("0.1")
          .doc(
              "How long the card waits for an answer before it sends again, as an exponent: 4.096"
                  + " µs × 2^n. The default is 268 ms: with seven retries a dead peer is noticed"
                  + " in 2.1 s, or 8.6 s with a card that waits four times as long, as it may;"
                  + " both are within `read.timeout`. 0, which verbs read as for ever, is not"
                  + " allowed.");

  /** See {@link TransportConfig#retryCount()}. */
  public static final ConfigKey<Integer> RETRY_COUNT =
      integer("retryCount")
          .defaultsTo("7")
          .between("0", "7")
          .since("0.1")
          .doc(
              "How often the card sends again before it reports a lost peer. 7 is the most verbs"
                  + " know, and right for a fabric that may drop packets.");

  /** See {@link TransportConfig#rnrRetryCount()}. */
  public static final ConfigKey<Integer> RNR_RETRY_COUNT =
      integer("rnrRetryCount")
          .defaultsTo("6")
          .between("0", "6")
          .since("0.1")
          .doc(
              "How often the card tries again when the peer says it is not ready. 7, which verbs"
                  + " read as for ever, is not allowed: a peer that never gets ready must fail.");

  /** See {@link TransportConfig#queueDepth()}. */
  public static final ConfigKey<Integer> QUEUE_DEPTH =
      integer("queueDepth")
          .defaultsTo("256")
          .between("16", "65535")
          .replaces("sendQueueDepth")
          .since("0.1")
          .doc(
              "Reads the send queue of one connection holds. The card's memory for it counts per"
                  + " connection; 256 reads of `readChunkSize` are far more than"
                  + " `maxBytesInFlightPerPeer` already. Where the device allows less, it is"
                  + " halved until it fits, and logged.");

  /** See {@link TransportConfig#maxConnections()}. */
  public static final ConfigKey<Integer> MAX_CONNECTIONS =
      integer("maxConnections")
          .defaultsTo("1024")
          .between("1", "65535")
          .since("0.1")
          .doc(
              "Connections an executor keeps; beyond that the one idle longest is closed, and set"
                  + " up again when needed. Cards slow down once the state of their connections"
                  + " no longer fits their cache, from some thousand on.");

  /** See {@link TransportConfig#listenBacklog()}. */
  public static final ConfigKey<Integer> LISTEN_BACKLOG =
      integer("listen.backlog")
          .defaultsTo("1024")
          .between("1", "65535")
          .since("0.1")
          .doc(
              "Connection requests that may wait for the listener. When a stage starts, every"
                  + " executor calls on every other at once; so not fewer than there are"
                  + " executors.");

  /** See {@link TransportConfig#pollerSpinNs()}. */
  public static final ConfigKey<Duration> POLLER_SPIN =
      duration("poller.spin")
          .defaultsTo("50us")
          .between("0", "1s")
          .since("0.1")
          .doc(
              "How long the poller of a device looks for completions without a pause before it"
                  + " yields and then sleeps until the device wakes it. A small read takes 2 to 5"
                  + " µs on a rack's fabric, so 50us spares most wake-ups; longer burns a core"
                  + " that tasks could use.");

  /**
   * Keys that belong together, with what holds for all of them.
   *
   * @param title the heading in the documentation
   * @param keys in the order of the documentation
   */
  record Section(String title, List<ConfigKey<?>> keys) {}

  static final List<Section> SECTIONS =
      List.of(
          new Section("Transports", List.of(TRANSPORTS, ALLOW_CLEARTEXT, VERIFY_CHECKSUMS)),
          new Section(
              "Memory",
              List.of(
                  MEMORY_SIZE,
                  MEMORY_SLAB_SIZE,
                  MEMORY_DIR,
                  MEMORY_QUARANTINE,
                  MEMORY_RECEIVE_SIZE,
                  INDEX_CACHE_SIZE)),
          new Section(
              "Durability",
              List.of(
                  DURABILITY,
                  WRITE_BEHIND_SIZE,
                  WRITE_BEHIND_TIMEOUT,
                  FILES_MAX_REGIONS,
                  FILES_MAX_SIZE)),
          new Section(
              "Deadlines",
              List.of(
                  CONNECT_TIMEOUT, READ_TIMEOUT, LOCATE_TIMEOUT, PUBLISH_TIMEOUT, STOP_TIMEOUT)),
          new Section(
              "Flow control",
              List.of(
                  MAX_BYTES_IN_FLIGHT_PER_PEER,
                  MAX_BYTES_IN_FLIGHT,
                  MAX_READS_IN_FLIGHT_PER_PEER,
                  READ_CHUNK_SIZE,
                  PEER_BACKOFF,
                  PEER_MAX_BACKOFF)),
          new Section(
              "RDMA device and connections",
              List.of(
                  DEVICE,
                  PORT,
                  GID_INDEX,
                  TRAFFIC_CLASS,
                  ACK_TIMEOUT,
                  RETRY_COUNT,
                  RNR_RETRY_COUNT,
                  QUEUE_DEPTH,
                  MAX_CONNECTIONS,
                  LISTEN_BACKLOG,
                  POLLER_SPIN)));

  /** Keys of SparkRDMA's that do nothing any more, in full, and what to do instead. */
  static final Map<String, String> RETIRED =
      retired(
          Map.ofEntries(
              Map.entry("driverPort", "remove it: the driver answers over Spark's own RPC"),
              Map.entry("recvQueueDepth", "remove it: peers read, they send nothing to receive"),
              Map.entry("recvWrSize", "remove it: peers read, they send nothing to receive"),
              Map.entry(
                  "swFlowControl",
                  "remove it: reads are bounded, see " + MAX_READS_IN_FLIGHT_PER_PEER),
              Map.entry(
                  "maxBufferAllocationSize",
                  "replaced by " + MEMORY_SIZE + " and " + MEMORY_RECEIVE_SIZE),
              Map.entry("maxAggBlock", "replaced by " + READ_CHUNK_SIZE),
              Map.entry("maxAggPrealloc", "replaced by " + MEMORY_RECEIVE_SIZE),
              Map.entry("preAllocateBuffers", "replaced by " + MEMORY_RECEIVE_SIZE),
              Map.entry("device.num", "replaced by " + DEVICE + ", which takes a name"),
              Map.entry("useOdp", "remove it: memory is registered once, in slabs"),
              Map.entry("collectOdpStats", "remove it: memory is registered once, in slabs"),
              Map.entry("cpuList", "remove it: one poller serves a device; see " + POLLER_SPIN),
              Map.entry("shuffleWriterMethod", "remove it: " + DURABILITY + "=disk writes files"),
              Map.entry("shuffleWriteChunkSize", "replaced by " + MEMORY_SLAB_SIZE),
              Map.entry("shuffleWriteFlushSize", "replaced by " + MEMORY_SLAB_SIZE),
              Map.entry("shuffleWriteBlockSize", "replaced by " + MEMORY_SLAB_SIZE),
              Map.entry("shuffleReadBlockSize", "replaced by " + READ_CHUNK_SIZE),
              Map.entry("collectShuffleReaderStats", "remove it: metrics are always on"),
              Map.entry("fetchTimeBucketSizeInMs", "remove it: metrics are always on"),
              Map.entry("fetchTimeNumBuckets", "remove it: metrics are always on"),
              Map.entry("resolvePathTimeout", "replaced by " + CONNECT_TIMEOUT),
              Map.entry("teardownListenTimeout", "replaced by " + STOP_TIMEOUT),
              Map.entry("maxConnectionAttempts", "replaced by " + PEER_BACKOFF)));

  private ConfigKeys() {}

  /** Returns every key, in the order of the documentation. */
  static Stream<ConfigKey<?>> all() {
    return SECTIONS.stream().flatMap(section -> section.keys().stream());
  }

  private static ConfigKey.Builder<Duration> deadline(String name) {
    return duration(name).between("10ms", "10min");
  }

  /** SparkRDMA tries {@code spark.port.maxRetries} further ports, 16 unless set. */
  private static String withSparkPortRetries(String text) {
    final PortRange port = PortRange.parse(text);
    return port.isAny() || port.first() != port.last()
        ? text
        : new PortRange(port.first(), Math.min(port.first() + 16, 65535)).toString();
  }

  private static Map<String, String> retired(Map<String, String> adviceByName) {
    final Map<String, String> adviceByKey = new TreeMap<>();
    adviceByName.forEach((name, advice) -> adviceByKey.put(ConfigKey.PREFIX + name, advice));
    return Collections.unmodifiableMap(adviceByKey);
  }
}
