import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { FieldDiagnostic } from "../../../../domain/manifest/validation/check-spec.ts";

/** Refusal of a request by the API, read from a problem document (docs/reference/management-api.md). */
export class Refusal extends Error {
  readonly status: number;
  /** Error code; empty for an answer that is not a Keyplane server's. */
  readonly code: string;
  /** Id of the object that is in the way, if there is one. */
  readonly id: string | undefined;
  /** Faults, each with its property. */
  readonly diagnostics: readonly FieldDiagnostic[];
  /** True if the same request was sent before, and may have been done then. */
  readonly mayBeDone: boolean;

  constructor(status: number, body: unknown, mayBeDone = false) {
    const { code, detail, id, errors }: Record<string, unknown> = isRecord(body) ? body : {};
    super(typeof detail === "string" ? detail : `it answers with ${status}`);
    this.status = status;
    this.code = typeof code === "string" ? code : "";
    this.id = typeof id === "string" ? id : undefined;
    this.diagnostics = Array.isArray(errors) ? errors.flatMap(readFault) : [];
    this.mayBeDone = mayBeDone;
  }
}

/** Reads a fault. Its path `spec.scopes[0]` is `scopes[0]` in a program. */
function readFault(error: unknown): FieldDiagnostic[] {
  if (!isRecord(error) || typeof error.path !== "string" || typeof error.message !== "string") return [];
  return [{ path: error.path.replace(/^spec\./, ""), message: error.message }];
}

/**
 * Error of an API that cannot be reached, or is not one; the message says what to do. The request may have been done.
 */
export class UnreachableError extends Error {}

/** Object of an operation, for messages. */
export type Subject = {
  /** Type, such as `keyplane:index:PlatformKey`. */
  readonly type: string;
  /** Noun, such as `key`. */
  readonly noun: string;
  /** Name of the resource in the program. */
  readonly resource: string;
  /** Name of the object. */
  readonly name: string;
};

type Explain = (refusal: Refusal, subject: Subject) => string;

/** Messages with advice, by the code of the refusal. */
const ADVICE: Readonly<Record<string, Explain>> = {
  invalid: ({ diagnostics, message }) =>
    diagnostics.length === 0 ? message : diagnostics.map(({ path, message }) => `${path}: ${message}`).join("; "),
  exists: ({ id }, { type, resource, name }) =>
    `there is one named "${name}" already. If a resource of this stack had it until now, under another name or parent, give this one \`aliases\` with that: an import would be deleted with the other. If none had it, choose another name, or take it up by \`pulumi import ${type} ${resource} ${id}\``,
  in_use: ({ id }, { type, resource, noun, name }) =>
    `a ${noun} named "${name}" was made for this URN within the last day, and is in use: a resource that has another name now, or a stack that has or had this one's, may have it. Give this one another \`name\`. Only if none has it, take it up by \`pulumi import ${type} ${resource} ${id}\``,
  managed: ({ message }, { noun }) =>
    `${message} Take it out of this program after \`pulumi state delete\`, which leaves the ${noun} as it is. To delete its manifest would end it.`,
  conflict: ({ message }) => `${message} Run \`pulumi refresh\`, then \`pulumi up\`.`,
  too_many_versions: ({ message }) => `${message} In a program the latter is \`rotation.overlap: "0s"\`.`,
  gone: () => "it is not there any more: run `pulumi refresh`, then `pulumi up` makes a new one",
  precondition_failed: () => OUTRUN,
  forbidden: ({ message }) =>
    `${message} Ask an admin of the team for a role that may, or use the token of one who may.`,
  not_found: () =>
    "it is not there, or not to be seen with this token: see that the token is of this installation and team; if it is gone, run `pulumi refresh`, then `pulumi up`",
  hidden: () =>
    "it is not to be seen with this token, and its team is not either: see that keyplane:url is this installation's and the token one of a member of the team. Only where the team is gone, take it out of the state by `pulumi state delete`",
  unavailable: () => "the server cannot work at the moment: run it again in a while",
};

/** Message for an object that another client has changed since this stack last read it. */
export const OUTRUN =
  "another client has changed it since this stack last read it: run `pulumi refresh`, see in `pulumi preview` what would be undone, then `pulumi up`";

/** Explains a refusal to the person who runs `pulumi up`. */
export function explainRefusal(refusal: Refusal, subject: Subject): string {
  return ADVICE[refusal.code]?.(refusal, subject) ?? `${refusal.message} (${refusal.status} ${refusal.code})`;
}
