package io.rdmashuffle.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What a class logs, from INFO on, until it is closed: {@code "WARN text"}. */
public final class LogCapture extends AbstractAppender implements AutoCloseable {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Logger logger;
  private final Level levelBefore;

  public LogCapture(Class<?> ofClass) {
    super("test", null, null, false, Property.EMPTY_ARRAY);
    logger = (Logger) LogManager.getLogger(ofClass);
    levelBefore = logger.getLevel();
    logger.setLevel(Level.INFO);
    start();
    logger.addAppender(this);
  }

  @Override
  public void append(LogEvent event) {
    lines.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
  }

  /** In the order they came. */
  public List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    logger.removeAppender(this);
    logger.setLevel(levelBefore);
    stop();
  }
}
