/** Handlers of the engine's calls about one resource. */
import messages, {
  type CheckRequest,
  type CheckResponse,
  type CreateRequest,
  type CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  type DiffResponse,
  type ReadRequest,
  type ReadResponse,
  type UpdateRequest,
  type UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb.js";
import { checkInputs } from "./check.ts";
import { checkResponse } from "./check-response.ts";
import { type Diff, diffResource } from "./diff.ts";
import { propertyOf } from "./difference.ts";
import { connected, type ProviderSession } from "./engine/session.ts";
import { structOf, valuesOf } from "./engine/structs.ts";
import { failureOf } from "./failure.ts";
import { versionReason } from "./key-secret.ts";
import { createResource, deleteResource, type PulumiResource, updateResource } from "./lifecycle.ts";
import { previewCreate, previewUpdate } from "./outputs.ts";
import { readResource } from "./read-resource.ts";
import { RESOURCES, type ResourceKind } from "./resources.ts";
import { revealUpdate, type Update } from "./update.ts";
import { revealAll, secretsIn, type Values } from "./values.ts";

const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = messages.PropertyDiff.Kind;
const KIND_OF_CHANGE = {
  add: { keeps: ADD, replaces: ADD_REPLACE },
  delete: { keeps: DELETE, replaces: DELETE_REPLACE },
  update: { keeps: UPDATE, replaces: UPDATE_REPLACE },
} as const;

export function handleCheck(request: CheckRequest): CheckResponse {
  const [kind, urn] = [kindOf(request.getType()), request.getUrn()];
  const [olds, news] = [valuesOf(request.getOlds()), valuesOf(request.getNews())];
  const { inputs, diagnostics } = checkInputs(kind, { urn, resource: request.getName(), news, olds });
  return checkResponse(diagnostics).setInputs(structOf(inputs));
}

export function handleDiff({ say, now, own, staying }: ProviderSession, request: DiffRequest): DiffResponse {
  const kind = kindOf(request.getType());
  const diff = diffResource(kind, revealUpdate(updateOf(request)), now());
  const { differences, because } = diff;
  own.set(request.getId(), request.getUrn());
  if (differences.some(({ replaces }) => replaces)) staying.delete(request.getId());
  else staying.add(request.getId());
  if (because !== undefined) say("info", request.getUrn(), because);
  return diffResponse(diff);
}

function diffResponse({ differences, deleteFirst, because }: Diff): DiffResponse {
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
}

export async function handleCreate(session: ProviderSession, request: CreateRequest): Promise<CreateResponse> {
  const [kind, inputs] = [kindOf(request.getType()), valuesOf(request.getProperties())];
  if (request.getPreview()) return new messages.CreateResponse().setProperties(structOf(previewCreate(kind, inputs)));
  const resource = resourceOf(session, request, inputs);
  const made = await about(resource, inputs, () => createResource(resource, inputs, session.own));
  const { id, outputs } = made;
  if (made.adopted) {
    session.adopted.add(id);
    session.say("warning", request.getUrn(), takenUp(kind, id));
  }
  return new messages.CreateResponse().setId(id).setProperties(structOf(outputs));
}

/** Returns the warning for an object that was found instead of made, which the user may not expect. */
function takenUp({ kind, noun }: ResourceKind, id: string): string {
  const secret = kind === "PlatformKey" ? ", with a new secret: no other works any more" : "";
  return `${noun} ${id} was there, made for this URN before: it is taken up${secret}`;
}

export async function handleRead(session: ProviderSession, request: ReadRequest): Promise<ReadResponse> {
  const id = request.getId();
  const [olds, inputs] = [valuesOf(request.getProperties()), valuesOf(request.getInputs())];
  const resource = resourceOf(session, request, inputs);
  const found = await about(resource, olds, () => readResource(resource, id, olds, inputs));
  if (typeof found === "object") {
    return new messages.ReadResponse()
      .setId(id)
      .setProperties(structOf(found.outputs))
      .setInputs(structOf(found.inputs));
  }
  const what = found === "revoked" ? "has been revoked, which is final" : "is not there any more";
  const warning = `${resource.subject.noun} ${id} ${what}: the next \`pulumi up\` makes a new one`;
  session.say("warning", request.getUrn(), warning);
  return new messages.ReadResponse();
}

export async function handleUpdate(session: ProviderSession, request: UpdateRequest): Promise<UpdateResponse> {
  const kind = kindOf(request.getType());
  const update = updateOf(request);
  const { olds, news } = update;
  const response = new messages.UpdateResponse();
  if (request.getPreview()) {
    const renews = kind.kind === "PlatformKey" && versionReason(revealUpdate(update), session.now()) !== undefined;
    return response.setProperties(structOf(previewUpdate(kind, olds, news, renews)));
  }
  const resource = resourceOf(session, request, news);
  const outputs = await about(resource, { olds, news }, () =>
    updateResource(resource, request.getId(), update, session.now()),
  );
  return response.setProperties(structOf(outputs));
}

export async function handleDelete(session: ProviderSession, request: DeleteRequest): Promise<void> {
  const { adopted, staying } = session;
  const [id, olds] = [request.getId(), valuesOf(request.getProperties())];
  const resource = resourceOf(session, request, olds);
  // A replacement of the same name, made before this deletion, is the same object: it lives on as that.
  if (!adopted.has(id)) await about(resource, olds, () => deleteResource(resource, id, olds, staying));
}

/** Runs an operation on a resource. Errors are reported without the secrets in `values`. */
async function about<T>({ subject }: PulumiResource, values: Values, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw failureOf(error, subject, secretsIn(values));
  }
}

function resourceOf(
  session: ProviderSession,
  request: { getType(): string; getName(): string; getUrn(): string },
  inputs: Values,
): PulumiResource {
  const [kind, resource] = [kindOf(request.getType()), request.getName()];
  const { name } = revealAll(inputs);
  const subject = { type: kind.type, resource, noun: kind.noun, name: typeof name === "string" ? name : resource };
  return { api: connected(session), kind, urn: request.getUrn(), subject };
}

function kindOf(type: string): ResourceKind {
  const kind = RESOURCES.get(type);
  if (kind === undefined) throw new Error(`${type} is no resource of Keyplane's: see that provider and program fit`);
  return kind;
}

function updateOf(request: DiffRequest | UpdateRequest): Update<Values> {
  return {
    olds: valuesOf(request.getOlds()),
    oldInputs: valuesOf(request.getOldInputs()),
    news: valuesOf(request.getNews()),
  };
}
