import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../../../domain/error-text.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import { ClusterError, type ClusterErrorCode } from "../../port.ts";

/** Error answer of the API server, or an answer that never came. */
export class ApiError extends Error {
  /** HTTP status; null without an answer: the request may have been carried out. */
  readonly status: number | null;
  /** Reason as in Kubernetes' Status: `AlreadyExists`, `Conflict`, `Expired`... Empty if none was given. */
  readonly reason: string;
  /** Object that a Status is about; undefined if it names none. */
  readonly about: ResourceName | undefined;
  /** Causes in the details of a Status: `NamespaceTerminating`, `FieldValueInvalid`... */
  readonly causes: readonly string[];
  /** Fields that the causes are about, as paths such as `metadata.annotations`. */
  readonly fields: readonly string[];
  constructor(
    status: number | null,
    reason: string,
    message: string,
    {
      about,
      causes = [],
      fields = [],
      ...options
    }: ErrorOptions & Partial<Pick<ApiError, "about" | "causes" | "fields">> = {},
  ) {
    super(message, options);
    this.name = "ApiError";
    this.status = status;
    this.reason = reason;
    this.about = about;
    this.causes = causes;
    this.fields = fields;
  }
}

/**
 * Name of an object as in a Status, without its namespace: the group, empty for the core's, and the plural of its kind.
 */
export type ResourceName = { readonly group: string; readonly resource: string; readonly name: string };

/** Longest message of the API server that is kept, in characters: as long as a message that names three objects. */
const MAX_TEXT = 1_000;

/** Makes an error of a Status: of an answer that is no success, or of an `ERROR` in a watch. */
export function errorOfStatus(status: unknown, httpStatus: number | null): ApiError {
  const { kind, code, reason, message, details } = isRecord(status) ? status : {};
  const number = httpStatus ?? (typeof code === "number" ? code : null);
  const text = typeof message === "string" ? message.slice(0, MAX_TEXT) : "without a message";
  const named =
    kind === "Status" && isRecord(details)
      ? { about: resourceIn(details), causes: ofCauses(details, "reason"), fields: ofCauses(details, "field") }
      : {};
  return new ApiError(number, typeof reason === "string" ? reason : "", text, named);
}

function ofCauses({ causes }: Record<string, unknown>, what: "reason" | "field"): string[] {
  const found: unknown[] = Array.isArray(causes) ? causes.map((cause) => isRecord(cause) && cause[what]) : [];
  return found.filter((text) => typeof text === "string");
}

/**
 * Returns the object that the details of a Status name, which leave out the core's group; undefined if they name none.
 */
function resourceIn({ group = "", kind, name }: Record<string, unknown>): ResourceName | undefined {
  if (typeof group !== "string" || typeof kind !== "string" || typeof name !== "string" || name === "")
    return undefined;
  return { group, resource: kind, name };
}

/**
 * True if the API server says that this very object does not exist. A 404 that does not name the object proves nothing:
 * the kind may not be served, or a proxy may have answered.
 */
export function isNotFound(error: unknown, asked: ResourceName): boolean {
  return error instanceof ApiError && saysNotFound(error) && isDeepStrictEqual(error.about, asked);
}

/** True for a 404 of the API server itself, and not the page of another server. */
const saysNotFound = ({ status, reason }: ApiError): boolean => status === 404 && reason === "NotFound";

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;
/** True if the right to the request is missing until it is granted. */
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;
/** True if the namespace is being deleted, so that nothing can be made in it any more. */
export const isOfEndingNamespace = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.includes("NamespaceTerminating");
/** True if the kind of a requested collection is not served, so that there are no objects of it. */
export const isNotServed = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
/** True if the version that a list or watch was to start from is not kept any more. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

/** Codes of definite refusals by their status; for 404 and 409 the reason says more. */
const CODES: Readonly<Record<number, ClusterErrorCode>> = { 403: "Forbidden", 409: "Conflict" };

/**
 * Returns the error that the port throws for a failed write: `Unclear` if there was no answer or the server failed,
 * since the write may have been done all the same.
 *
 * @param doing what failed, as in `creating Secret team-a/reader`
 * @param messageOf returns what may be said of the answer; less for a write that contains secrets
 */
export function writeError(error: unknown, doing: string, messageOf = (one: ApiError) => one.message): Error {
  if (!(error instanceof ApiError)) return new Error(`while ${doing}: ${errorText(error)}`, { cause: error });
  const code = codeOf(error);
  const text = `while ${doing}: ${messageOf(error)}`;
  return code === undefined ? new Error(text) : new ClusterError(code, text);
}

/** Returns the same error for a read, which cannot be unclear. */
export function readError(error: unknown, doing: string): Error {
  const failed = writeError(error, doing);
  return failed instanceof ClusterError && failed.code === "Unclear"
    ? new Error(failed.message, { cause: error })
    : failed;
}

function codeOf(error: ApiError): ClusterErrorCode | undefined {
  const { status, reason } = error;
  if (status === null || status >= 500) return "Unclear";
  if (saysNotFound(error)) return "NotFound";
  return reason === "AlreadyExists" ? "AlreadyExists" : CODES[status];
}
