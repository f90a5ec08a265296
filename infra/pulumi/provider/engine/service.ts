/** Methods of the provider that the engine calls. */
import type { handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import schema from "../../schema.json" with { type: "json" };
import { openApi } from "../api/api.ts";
import { checkFailure, checkResponse } from "../check-response.ts";
import { checkConfig, readConfig } from "../config.ts";
import { differences } from "../difference.ts";
import { failureOf } from "../failure.ts";
import { callFunction } from "../functions.ts";
import { handleCheck, handleCreate, handleDelete, handleDiff, handleRead, handleUpdate } from "../resource-handlers.ts";
import { revealAll } from "../values.ts";
import { construct } from "./construct.ts";
import { Empty } from "./protocol.ts";
import { connected, openSession, type ProviderDeps } from "./session.ts";
import { structOf, valuesOf } from "./structs.ts";

/** Methods that this provider has. The protocol's others are answered as unimplemented. */
type Methods = Omit<
  IResourceProviderServer,
  "parameterize" | "call" | "list" | "getMapping" | "getMappings" | "attach"
>;

const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;

export function providerService(deps: ProviderDeps): UntypedServiceImplementation {
  const session = openSession(deps);
  const service: Methods = {
    handshake: unary(() => new messages.ProviderHandshakeResponse().setAcceptSecrets(true)),
    getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(schema.version)),
    getSchema: unary(() => new messages.GetSchemaResponse().setSchema(JSON.stringify(schema))),
    cancel: unary(() => new Empty()),

    checkConfig: unary((request) => {
      const diagnostics = checkConfig(valuesOf(request.getNews()));
      return checkResponse(diagnostics).setInputs(request.getNews());
    }),
    diffConfig: unary((request) => {
      const paths = differences(valuesOf(request.getOldInputs()), valuesOf(request.getNews())).map(({ path }) => path);
      return new messages.DiffResponse().setChanges(paths.length > 0 ? DIFF_SOME : DIFF_NONE).setDiffsList(paths);
    }),
    configure: unary((request) => {
      const config = readConfig(valuesOf(request.getArgs()), deps.env);
      session.api = config && openApi(config);
      session.reference = referenceOf(request.getUrn(), request.getId());
      return new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),

    check: unary(handleCheck),
    diff: unary((request) => handleDiff(session, request)),
    create: unary((request) => handleCreate(session, request)),
    read: unary((request) => handleRead(session, request)),
    update: unary((request) => handleUpdate(session, request)),
    delete: unary(async (request) => {
      await handleDelete(session, request);
      return new Empty();
    }),

    construct: unary((request) => construct(session, request)),

    invoke: unary(async (request) => {
      const args = revealAll(valuesOf(request.getArgs()));
      const result = await callFunction(connected(session), request.getTok(), args);
      const response = new messages.InvokeResponse();
      if ("diagnostics" in result) return response.setFailuresList(result.diagnostics.map(checkFailure));
      return response.setReturn(structOf(result.found));
    }),
  };
  return service;
}

/** Returns the provider's reference; undefined with engines before about 3.160, which do not send it. */
function referenceOf(urn: string, id: string): string | undefined {
  return urn === "" || id === "" ? undefined : `${urn}::${id}`;
}

/** Wraps a function as a method of the protocol. */
function unary<Request, Response>(
  act: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return async (call, callback) => {
    try {
      callback(null, await act(call.request));
    } catch (error) {
      callback(isFailure(error) ? error : failureOf(error, undefined, []), null);
    }
  };
}

function isFailure(error: unknown): error is ReturnType<typeof failureOf> {
  return typeof error === "object" && error !== null && !(error instanceof Error) && "details" in error;
}
