import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engine from "@pulumi/pulumi/proto/engine_pb.js";
import { grpc } from "./protocol.ts";

/** Shows a message to the user of the engine, at the resource of a URN. */
export type Say = (severity: "info" | "warning", urn: string, message: string) => void;

/**
 * Creates the log; it does nothing without an address.
 *
 * @param address address of the engine, if given
 */
export function engineLog(address: string | undefined): Say {
  if (address === undefined) return () => {};
  const client = new engineService.EngineClient(address, grpc.credentials.createInsecure());
  return (severity, urn, message) => {
    const level = severity === "warning" ? engine.LogSeverity.WARNING : engine.LogSeverity.INFO;
    // A message that cannot be sent is lost: no operation fails for it.
    client.log(new engine.LogRequest().setSeverity(level).setUrn(urn).setMessage(message), () => {});
  };
}
