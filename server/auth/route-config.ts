import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { ServedOperation } from "../../domain/access/gateway-operations.ts";
import { OPERATIONS, type OperationName } from "../../domain/access/operations.ts";
import type { Product } from "../../domain/access/scopes.ts";
import type { Problem } from "../http/problems/problem.ts";

/** Names the operation of a gateway's request from what the router matched; undefined if there is none. */
type Classifier = (request: FastifyRequest) => ServedOperation | undefined;

/** Answers a request that authentication refused. */
export type Refuse = (request: FastifyRequest, reply: FastifyReply, shown: Problem) => void;

/** Access that a route with a key declares: exactly one of these. */
export type KeyedAccess =
  /** A key whose scopes cover the operation. A function stands for a gateway's operations. */
  | {
      readonly operation: OperationName | Classifier;
      /** True if an issuer's token is accepted too: on the MCP endpoint, for which an audience marks the tokens. */
      readonly memberTokens?: true;
    }
  /** A method that is not served, on a path that is served: 405 behind the key's own checks. */
  | { readonly unservedMethodOf: Product; readonly allow: string };

/** Access that a route of the management API declares: a token or a session, and no API key. */
export type ManagedAccess = {
  readonly management: true;
  /** Methods that are served on the path, for a method that is not: 405 behind the token's check. */
  readonly allow?: string;
};

/**
 * Access that a page of the console declares: a session, and no other credential. A GET without one is sent to sign in.
 */
export type ConsoleAccess = {
  readonly console: true;
  /** True if a session is enough although its issuer has to be asked anew: to end the session. */
  readonly anyClaims?: true;
  /** Methods that are served on the path, as for a route of the management API. */
  readonly allow?: string;
};

/** Access that a route declares. */
type Access =
  | KeyedAccess
  | ManagedAccess
  | ConsoleAccess
  /** No key at all. The paths that may say so are listed in `PUBLIC_ROUTES`. */
  | { readonly public: true };

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: OperationName | Classifier;
    memberTokens?: true;
    /**
     * Answers a refusal instead of the error handler, whose way through the framework costs a flood as much as
     * deciding.
     */
    refuse?: Refuse;
    unservedMethodOf?: Product;
    management?: true;
    console?: true;
    anyClaims?: true;
    allow?: string;
    public?: true;
  }
}

/** Reads a route's declaration; throws if it declares no access, or more than one. */
export function declaredAccess(route: RouteOptions, publicRoutes: ReadonlySet<string>): Access {
  const {
    operation,
    memberTokens,
    unservedMethodOf,
    management,
    console: page,
    anyClaims,
    allow,
    public: open,
  } = route.config ?? {};
  const name = `${[route.method].flat().join(",")} ${route.url}`;
  const declared = [operation, unservedMethodOf, management, page, open].filter((value) => value !== undefined);
  if (declared.length !== 1) {
    throw new Error(`route ${name} must declare exactly one of config.operation, management, console and public`);
  }
  if (operation !== undefined) {
    if ((productOf({ operation }) === "gateway") !== route.url.includes("/:publicId")) {
      throw new Error(`route ${name}: a gateway's operations, and only they, belong under /:publicId`);
    }
    return memberTokens === undefined ? { operation } : { operation, memberTokens };
  }
  if (unservedMethodOf !== undefined) return { unservedMethodOf, allow: allow ?? "" };
  if (management !== undefined) return allow === undefined ? { management } : { management, allow };
  if (page !== undefined) return { console: page, ...(allow && { allow }), ...(anyClaims && { anyClaims }) };
  if (!publicRoutes.has(route.url)) throw new Error(`route ${name} is not in the list of public routes`);
  return { public: true };
}

/** Returns the product that a route belongs to. */
export function productOf(access: KeyedAccess): Product {
  if ("unservedMethodOf" in access) return access.unservedMethodOf;
  return typeof access.operation === "function" ? "gateway" : OPERATIONS[access.operation].product;
}
