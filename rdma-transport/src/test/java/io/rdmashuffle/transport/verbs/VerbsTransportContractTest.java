package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.transport.AbstractTransportContractTest;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** What every transport promises, over a soft-RoCE device. */
@Tag("rxe")
@ExtendWith(VerbsTransportContractTest.PaceOfRereading.class)
@Timeout(900) // an emulated processor may have to do
final class VerbsTransportContractTest extends AbstractTransportContractTest {
  @Override
  protected Transport openTransport(PeerIdentity self, SlabFactory slabs) {
    return VerbsTransports.open(self, RdmaShuffleConf.from(Map.of()).transport());
  }

  /** Each that names an address nobody has costs the whole timeout. */
  @Override
  protected int mutantCount() {
    return 50;
  }

  /** Soft RoCE on an emulated processor is slow. */
  @Override
  protected Duration patience() {
    return Duration.ofSeconds(30);
  }

  /** Leaves out what assumes that a read takes some microseconds. */
  static final class PaceOfRereading implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      boolean isRace =
          context
              .getTestMethod()
              .map(method -> method.getName().startsWith("laterReadOfABatch"))
              .orElse(false);
      return isRace
          ? ConditionEvaluationResult.disabled(
              "the owner rewrites every 30 us, soft RoCE takes longer to read: see ReadOrderTest")
          : ConditionEvaluationResult.enabled("");
    }
  }
}
