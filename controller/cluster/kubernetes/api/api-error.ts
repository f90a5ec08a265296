import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../../../domain/error-text.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import { ClusterError, type ClusterErrorCode } from "../../port.ts";

/** What the API server answered instead of what was asked for, or that it answered nothing. */
export class ApiError extends Error {
  /** Of HTTP; null without an answer: what was asked for may have been done. */
  readonly status: number | null;
  /** As in Kubernetes' Status: `AlreadyExists`, `Conflict`, `Expired`... Empty where none was given. */
  readonly reason: string;
  /** The object that a Status is about; undefined where it names none. */
  readonly about: ResourceName | undefined;
  /** What the details of a Status name as causes: `NamespaceTerminating`, `FieldValueInvalid`... */
  readonly causes: readonly string[];
  /** The fields that those are about, as paths such as `metadata.annotations`. */
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
 * Names an object as a Status does, but for its namespace: the group, empty for the core's, and the plural of its kind.
 */
export type ResourceName = { readonly group: string; readonly resource: string; readonly name: string };

/** Longest message of another's that is kept: as long as one that names three objects. */
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

/** What the details of a Status name: the core's group is left out there. */
function resourceIn({ group = "", kind, name }: Record<string, unknown>): ResourceName | undefined {
  if (typeof group !== "string" || typeof kind !== "string" || typeof name !== "string" || name === "")
    return undefined;
  return { group, resource: kind, name };
}

/**
 * Whether the API server says of this very object that there is none. A 404 that does not name it says nothing of it:
 * the kind may not be served, or a proxy may have answered.
 */
export function isNotFound(error: unknown, asked: ResourceName): boolean {
  return error instanceof ApiError && saysNotFound(error) && isDeepStrictEqual(error.about, asked);
}

/** A 404 of the API server itself, and not the page of another server. */
const saysNotFound = ({ status, reason }: ApiError): boolean => status === 404 && reason === "NotFound";

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;
/** The right to it is missing until it is granted. */
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;
/** Nothing can be made in its namespace any more, which is being deleted. */
export const isOfEndingNamespace = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.includes("NamespaceTerminating");
/** Of a collection: its kind is not served, so that there is none of it. */
export const isNotServed = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
/** The version that was asked from is not kept any more. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

/** What a definite refusal is called, by its status; 404 and 409 say more by their reason. */
const CODES: Readonly<Record<number, ClusterErrorCode>> = { 403: "Forbidden", 409: "Conflict" };

/**
 * What the port throws for a failed write: `Unclear` when there was no answer or the server failed, since it may have
 * been done all the same.
 *
 * @param doing what failed, as in `creating Secret team-a/reader`
 * @param messageOf what may be said of the answer; a write with secrets in it says less
 */
export function writeError(error: unknown, doing: string, messageOf = (one: ApiError) => one.message): Error {
  if (!(error instanceof ApiError)) return new Error(`while ${doing}: ${errorText(error)}`, { cause: error });
  const code = codeOf(error);
  const text = `while ${doing}: ${messageOf(error)}`;
  return code === undefined ? new Error(text) : new ClusterError(code, text);
}

/** The same for a read, where nothing can be unclear. */
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
