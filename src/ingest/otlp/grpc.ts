import { Metadata, Server, ServerCredentials, setLogger } from "@grpc/grpc-js";
import type { MethodDefinition, sendUnaryData, ServerUnaryCall, ServiceDefinition } from "@grpc/grpc-js";
import { OperatorError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { encodeResponse } from "./export-response.ts";
import { failureOf } from "./failure.ts";
import type { OtlpReceiver } from "./receive.ts";
import { signals } from "./signal.ts";
import type { Signal, Target } from "./signal.ts";
import { encodeStatus } from "./status.ts";

export interface OtlpGrpcOptions {
  /** `host:port`; an IPv6 host in brackets; port 0 takes any free one. */
  readonly listen: string;
  readonly receiver: OtlpReceiver;
  readonly log: Log;
  readonly limits: {
    /** Of one message, as it is sent and as it is decompressed. */
    readonly maxBodyBytes: number;
  };
  /** Says whose telemetry a call carries. Throws an error with a `statusCode` to refuse it. */
  readonly identify: (metadata: Metadata) => Target | Promise<Target>;
}

export interface OtlpGrpc {
  /** `host:port` as it is listened on. */
  readonly address: string;
  /** Takes no new calls, answers those under way, and cuts what is left after `deadlineMs`. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

const serviceNames: Readonly<Record<Signal, string>> = {
  traces: "opentelemetry.proto.collector.trace.v1.TraceService",
  logs: "opentelemetry.proto.collector.logs.v1.LogsService",
  metrics: "opentelemetry.proto.collector.metrics.v1.MetricsService",
};

/** Of one connection; further ones wait. Each may hold a message of the largest size. */
const maxCallsAtOnce = 100;

type Call = ServerUnaryCall<Buffer, Buffer>;

const asIs = (bytes: Buffer) => bytes;

/** A service whose messages stay bytes: they are decoded straight into rows. */
function rawService(signal: Signal): ServiceDefinition {
  const method: MethodDefinition<Buffer, Buffer> = {
    path: `/${serviceNames[signal]}/Export`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  return { Export: method };
}

function bind(server: Server, listen: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(listen, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

/** Why `error` kept the server from listening, in words. */
function reasonOf({ message }: Error): string {
  if (message.includes("EADDRINUSE")) return "another program listens there already";
  if (message.includes("EACCES")) return "this user may not listen there";
  if (message.includes("EADDRNOTAVAIL")) return "this machine has no such address";
  return message;
}

/** OTLP over gRPC, listening. Throws OperatorError where it cannot listen. Source: the OTLP specification, "OTLP/gRPC". */
export async function startOtlpGrpc({ listen, receiver, log, limits, identify }: OtlpGrpcOptions): Promise<OtlpGrpc> {
  // The library would print to stderr, what it throws as well.
  const line = (...words: unknown[]) => log.debug({ from: "grpc" }, words.join(" "));
  setLogger({ error: line, info: line, debug: line });
  const server = new Server({
    "grpc.max_receive_message_length": limits.maxBodyBytes,
    "grpc.max_concurrent_streams": maxCallsAtOnce,
  });

  async function answer(signal: Signal, call: Call, callback: sendUnaryData<Buffer>): Promise<void> {
    let response: Buffer;
    try {
      const target = await identify(call.metadata);
      response = encodeResponse(signal, await receiver.receive(signal, call.request, target), "protobuf");
    } catch (error) {
      const failure = failureOf(error);
      if (failure.httpStatus === 500) log.error({ err: error }, "a telemetry payload could not be taken");
      else log.debug({ err: error }, "a telemetry payload was refused");
      const metadata = new Metadata();
      metadata.set("grpc-status-details-bin", encodeStatus(failure, "protobuf"));
      callback({ code: failure.grpcCode, details: failure.message, metadata });
      return;
    }
    callback(null, response);
  }

  for (const signal of signals) {
    server.addService(rawService(signal), {
      Export: (call: Call, callback: sendUnaryData<Buffer>) => void answer(signal, call, callback),
    });
  }

  const port = await bind(server, listen).catch((error: Error) => {
    server.forceShutdown();
    throw new OperatorError(
      `OTLP over gRPC cannot listen on ${listen}: ${reasonOf(error)}. Choose another address with --grpc-listen.`,
    );
  });

  return {
    address: `${listen.slice(0, listen.lastIndexOf(":"))}:${port}`,
    close({ deadlineMs }) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), deadlineMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}
