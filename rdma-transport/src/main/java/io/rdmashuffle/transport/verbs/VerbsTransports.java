package io.rdmashuffle.transport.verbs;
import io.rdmashuffle.transport.*;
public class VerbsTransports { public static Transport open(PeerIdentity s, io.rdmashuffle.conf.TransportConfig c){
 return new Transport(){
  @Override public String name(){return "rdma";}
  @Override public Availability availability(){return Availability.unavailable(FailureKind.NO_DEVICE,"stub");}
  @Override public RegisteredSlab register(SlabMemory m, Access a) throws TransportException { throw new TransportException(FailureKind.NO_DEVICE,"stub");}
  @Override public byte[] localEndpoint(){return new byte[0];}
  @Override public java.util.concurrent.CompletableFuture<Connection> connect(byte[] e, PeerIdentity p, Deadline d){return java.util.concurrent.CompletableFuture.failedFuture(new TransportException(FailureKind.NO_DEVICE,"stub"));}
  @Override public int maxReadLength(){return 1;} @Override public int maxBatchSize(){return 1;} @Override public TransportCounters counters(){return new TransportCounters();} @Override public void close(){}
 };}}
