/** The demo: real jobs with Spark's sort shuffle and with the plugin, results compared. */
package io.rdmashuffle.demo;
