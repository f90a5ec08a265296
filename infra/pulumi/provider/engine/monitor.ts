/** The engine's monitor, at which a component registers itself and what it is made of, as a program does. */
import monitorService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import messages, {
  type RegisterResourceRequest,
  type RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb.js";
import type { Values } from "../values.ts";
import { grpc } from "./protocol.ts";
import { structOf } from "./structs.ts";

/** A key with all its versions does not come near it. Bytes. */
const MAX_MESSAGE = 64 << 20;

export type Monitor = {
  /** Registers a resource, and answers when it is there: at once in a preview. */
  register(request: RegisterResourceRequest): Promise<RegisterResourceResponse>;
  /** Says what a component comes to, which completes it. */
  registerOutputs(urn: string, outputs: Values): Promise<void>;
  close(): void;
};

/** @param address of the monitor, as the request to construct a component has it */
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
