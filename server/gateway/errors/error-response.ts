import type { ServerResponse } from "node:http";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { OWN_ERROR } from "../../http/error-source.ts";
import type { Problem } from "../../http/problems/problem.ts";
import { INERT_HEADERS } from "../headers/headers.ts";
import { dialectError } from "./dialect-errors.ts";

type ErrorResponse = { readonly head: string[]; readonly body: string };

/**
 * Responses by problem and format. Most problems are made once, and so are their responses: a flood of refusals costs
 * no more than Node's own.
 */
const made = new WeakMap<Problem, Map<Dialect, ErrorResponse>>();

/** Answers with a problem of our own, in the caller's format. To be called only while nothing has been sent. */
export function sendErrorResponse(response: ServerResponse, dialect: Dialect, shown: Problem): void {
  const { head, body } = errorResponse(dialect, shown);
  response.writeHead(shown.status, head);
  response.end(body);
}

function errorResponse(dialect: Dialect, shown: Problem): ErrorResponse {
  const byDialect = made.get(shown) ?? new Map<Dialect, ErrorResponse>();
  const known = byDialect.get(dialect);
  if (known !== undefined) return known;
  const body = dialectError(dialect, shown);
  const length = ["content-type", "application/json; charset=utf-8", "content-length", String(Buffer.byteLength(body))];
  const response = { head: [...length, ...OWN_ERROR, ...INERT_HEADERS, ...Object.entries(shown.headers).flat()], body };
  made.set(shown, byDialect.set(dialect, response));
  return response;
}
