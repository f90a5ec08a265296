/** Client of the engine's monitor, with which a component registers itself and its parts, as a program does. */
import monitorService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import messages, {
  type RegisterResourceRequest,
  type RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb.js";
import type { Values } from "../values.ts";
import { grpc } from "./protocol.ts";
import { structOf } from "./structs.ts";

/** Largest message, in bytes, far above a key with all its versions. */
const MAX_MESSAGE = 64 << 20;

export type Monitor = {
  /** Registers a resource, and answers once it exists; in a preview, at once. */
  register(request: RegisterResourceRequest): Promise<RegisterResourceResponse>;
  /** Registers the outputs of a component, which completes it. */
  registerOutputs(urn: string, outputs: Values): Promise<void>;
  close(): void;
};

/**
 * Opens the monitor.
 *
 * @param address address of the monitor, from the request to construct a component
 */
export function openMonitor(address: string): Monitor {
  const client = new monitorService.ResourceMonitorClient(address, grpc.credentials.createInsecure(), {
    "grpc.max_receive_message_length": MAX_MESSAGE,
  });
  return {
    register: (request) =>
      new Promise((resolve, reject) => {
        client.registerResource(request, (error, response) => (error === null ? resolve(response) : reject(error)));
      }),
    registerOutputs: (urn, outputs) =>
      new Promise((resolve, reject) => {
        const request = new messages.RegisterResourceOutputsRequest().setUrn(urn).setOutputs(structOf(outputs));
        client.registerResourceOutputs(request, (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => client.close(),
  };
}
