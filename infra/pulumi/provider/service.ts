/** The engine's calls, each as what it asks of a resource. */
import type { handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import type { Environment } from "../../../domain/environment.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/check-spec.ts";
import schema from "../schema.json" with { type: "json" };
import { type Api, openApi } from "./api.ts";
import { checkInputs } from "./check.ts";
import { checkConfig, readConfig } from "./config.ts";
import { diffResource } from "./diff.ts";
import { differences, propertyOf } from "./difference.ts";
import type { Say } from "./engine-log.ts";
import { failureOf, structOf } from "./failure.ts";
import { callFunction } from "./functions.ts";
import { versionReason } from "./key-secret.ts";
import { createResource, deleteResource, type Resource, readResource, updateResource } from "./lifecycle.ts";
import { previewCreate, previewUpdate } from "./outputs.ts";
import { Empty } from "./protocol.ts";
import { RESOURCES, type ResourceKind } from "./resources.ts";
import { readValues, revealAll, secretsIn, type Values } from "./values.ts";

/** What the provider stands on. */
export type ProviderDeps = {
  readonly env: Environment;
  readonly say: Say;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** The methods that this provider has; the protocol's others are answered as unimplemented. */
type Methods = Omit<
  IResourceProviderServer,
  "parameterize" | "call" | "list" | "construct" | "getMapping" | "getMappings" | "attach"
>;

const PREVIEW_ONLY = "the provider's configuration is known only after another resource is made: run `pulumi up`";
const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = messages.PropertyDiff.Kind;
const KIND_OF_CHANGE = {
  add: { keeps: ADD, replaces: ADD_REPLACE },
  delete: { keeps: DELETE, replaces: DELETE_REPLACE },
  update: { keeps: UPDATE, replaces: UPDATE_REPLACE },
} as const;

export function providerService({ env, say, now }: ProviderDeps): UntypedServiceImplementation {
  let api: Api | undefined;
  /** What this process has found instead of making it: by a killed `up`, or by the very resource that is replaced. */
  const adopted = new Set<string>();
  /** The ids that the engine has asked about since its state has them, and those of them that are not to be replaced. */
  const own = new Set<string>();
  const staying = new Set<string>();

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
      const config = readConfig(valuesOf(request.getArgs()), env);
      api = config && openApi(config);
      return new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),

    check: unary((request) => {
      const [kind, urn] = [kindOf(request.getType()), request.getUrn()];
      const olds = valuesOf(request.getOlds());
      const isNew = Object.keys(olds).length === 0;
      const resource = request.getName();
      const { inputs, diagnostics } = checkInputs(kind, { urn, resource, news: valuesOf(request.getNews()), isNew });
      return checkResponse(diagnostics).setInputs(structOf(inputs));
    }),
    diff: unary((request) => {
      const [kind, urn] = [kindOf(request.getType()), request.getUrn()];
      const news = revealAll(valuesOf(request.getNews()));
      const [olds, oldInputs] = [request.getOlds(), request.getOldInputs()].map((one) => revealAll(valuesOf(one)));
      const { differences, deleteFirst, because } = diffResource(kind, olds ?? {}, oldInputs ?? {}, news, now());
      own.add(request.getId());
      if (differences.some(({ replaces }) => replaces)) staying.delete(request.getId());
      else staying.add(request.getId());
      if (because !== undefined) say("info", urn, because);
      const response = new messages.DiffResponse()
        .setChanges(differences.length > 0 || because !== undefined ? DIFF_SOME : DIFF_NONE)
        .setDiffsList([...new Set(differences.map(({ path }) => propertyOf(path)))])
        .setReplacesList(differences.filter(({ replaces }) => replaces).map(({ path }) => path))
        .setDeletebeforereplace(deleteFirst)
        .setHasdetaileddiff(true);
      for (const { path, what, replaces } of differences) {
        const kind = KIND_OF_CHANGE[what][replaces ? "replaces" : "keeps"];
        response.getDetaileddiffMap().set(path, new messages.PropertyDiff().setKind(kind).setInputdiff(true));
      }
      return response;
    }),
    create: unary(async (request) => {
      const [kind, inputs] = [kindOf(request.getType()), valuesOf(request.getProperties())];
      if (request.getPreview()) {
        return new messages.CreateResponse().setProperties(structOf(previewCreate(kind, inputs)));
      }
      const resource = resourceOf(request, inputs);
      const made = await about(resource, inputs, () => createResource(resource, inputs, own));
      const { id, outputs } = made;
      if (made.adopted) {
        adopted.add(id);
        say("warning", request.getUrn(), takenUp(kind, id));
      }
      return new messages.CreateResponse().setId(id).setProperties(structOf(outputs));
    }),
    read: unary(async (request) => {
      const [id, urn] = [request.getId(), request.getUrn()];
      const [olds, inputs] = [valuesOf(request.getProperties()), valuesOf(request.getInputs())];
      const resource = resourceOf(request, inputs);
      const found = await about(resource, olds, () => readResource(resource, id, olds, inputs));
      if (typeof found === "object") {
        return new messages.ReadResponse()
          .setId(id)
          .setProperties(structOf(found.outputs))
          .setInputs(structOf(found.inputs));
      }
      const what = found === "revoked" ? "has been revoked, which is final" : "is not there any more";
      say("warning", urn, `${resource.subject.noun} ${id} ${what}: the next \`pulumi up\` makes a new one`);
      return new messages.ReadResponse();
    }),
    update: unary(async (request) => {
      const kind = kindOf(request.getType());
      const [olds, oldInputs] = [valuesOf(request.getOlds()), valuesOf(request.getOldInputs())];
      const news = valuesOf(request.getNews());
      const response = new messages.UpdateResponse();
      if (request.getPreview()) {
        const [old, oldIn, given] = [revealAll(olds), revealAll(oldInputs), revealAll(news)];
        const renews = kind.kind === "PlatformKey" && versionReason(old, oldIn, given, now()) !== undefined;
        return response.setProperties(structOf(previewUpdate(kind, olds, news, renews)));
      }
      const resource = resourceOf(request, news);
      const state = { olds, oldInputs };
      const outputs = await about(resource, { olds, news }, () =>
        updateResource(resource, request.getId(), state, news, now()),
      );
      return response.setProperties(structOf(outputs));
    }),
    delete: unary(async (request) => {
      const [id, olds] = [request.getId(), valuesOf(request.getProperties())];
      const resource = resourceOf(request, olds);
      // A replacement of the same name, made before this deletion, is the same object: it lives on as that.
      if (!adopted.has(id)) await about(resource, olds, () => deleteResource(resource, id, olds, staying));
      return new Empty();
    }),

    invoke: unary(async (request) => {
      const result = await callFunction(connected(), request.getTok(), revealAll(valuesOf(request.getArgs())));
      const response = new messages.InvokeResponse();
      if ("diagnostics" in result) return response.setFailuresList(result.diagnostics.map(checkFailure));
      return response.setReturn(structOf(result.found));
    }),
  };
  return service;

  function connected(): Api {
    if (api === undefined) throw new Error(PREVIEW_ONLY);
    return api;
  }

  function resourceOf(request: { getType(): string; getName(): string; getUrn(): string }, inputs: Values): Resource {
    const [kind, resource] = [kindOf(request.getType()), request.getName()];
    const { name } = revealAll(inputs);
    const subject = { type: kind.type, resource, noun: kind.noun, name: typeof name === "string" ? name : resource };
    return { api: connected(), kind, urn: request.getUrn(), subject };
  }
}

/** What is said of an object that was found instead of made: whoever did not expect that is to know. */
function takenUp({ kind, noun }: ResourceKind, id: string): string {
  const secret = kind === "PlatformKey" ? ", with a new secret: no other works any more" : "";
  return `${noun} ${id} was there, made for this URN before: it is taken up${secret}`;
}

/** Does something with a resource; what goes wrong is said without the secrets that it was done with. */
async function about<T>({ subject }: Resource, values: Values, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw failureOf(error, subject, secretsIn(values));
  }
}

function kindOf(type: string): ResourceKind {
  const kind = RESOURCES.get(type);
  if (kind === undefined) throw new Error(`${type} is no resource of Keyplane's: see that provider and program fit`);
  return kind;
}

function valuesOf(struct: { toJavaScript(): unknown } | undefined): Values {
  return readValues(struct?.toJavaScript());
}

function checkResponse(diagnostics: readonly FieldDiagnostic[]) {
  const response = new messages.CheckResponse();
  response.setFailuresList(diagnostics.map(checkFailure));
  return response;
}

/** Of a failure that names a property the engine prints the value, be it a secret: so the reason names it instead. */
function checkFailure({ path, message }: FieldDiagnostic) {
  return new messages.CheckFailure().setReason(path === "" ? message : `${path}: ${message}`);
}

/** A method of the protocol. */
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
