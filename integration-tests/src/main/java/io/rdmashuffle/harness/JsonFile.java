package io.rdmashuffle.harness;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;

/** Writes results where a program may read them. */
public final class JsonFile {
  private JsonFile() {}

  /** Replaces the file. */
  public static void write(Path file, Object value) throws IOException {
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), value);
  }
}
