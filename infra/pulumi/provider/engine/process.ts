/** Process of the provider. Pulumi's engine starts it with its own address, and reads the port from the first line. */
import service from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { providerEnvironment } from "../config.ts";
import { engineLog } from "./engine-log.ts";
import { grpc } from "./protocol.ts";
import { providerService } from "./service.ts";

/** Time between two checks that the engine still runs. Milliseconds. */
const WATCH_MS = 1_000;
/** Largest message, in bytes, far above hundreds of keys with all their versions. */
const MAX_MESSAGE = 64 << 20;

const address = process.argv.slice(2).findLast((argument) => !argument.startsWith("-"));
const server = new grpc.Server({ "grpc.max_receive_message_length": MAX_MESSAGE });
server.addService(
  service.ResourceProviderService,
  providerService({ env: providerEnvironment(), say: engineLog(address), now: Date.now }),
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`${port}\n`);
});

const stop = () => process.exit(0);
// The engine's way to say that it is done; a terminal's Ctrl-C goes to the engine alone.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
// An engine that was killed ends nothing.
const engine = process.ppid;
setInterval(() => process.ppid === engine || stop(), WATCH_MS).unref();
