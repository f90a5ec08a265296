import type { IncomingMessage } from "node:http";
import { neededScopes } from "../../../domain/access/authorize.ts";
import { type KeyRecord, UNSTORED_VERSION } from "../../../domain/access/key-record.ts";
import { scopesIn } from "../../../domain/access/scopes.ts";
import { keyPrefix } from "../../../domain/key/secret/key-format.ts";
import { listed } from "../../http/listed.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { extractCredential } from "../credential.ts";
import type { DecisionDeps } from "../decide.ts";
import type { UsedOperation } from "../refused.ts";

/**
 * Returns the answer to a key that may not do what it is used for: which key it is, what it lacks, and what it has. It
 * is for the key's holder, who can ask for the same at `/api/v1/whoami`.
 */
export function forbiddenKey(
  { index, config }: Pick<DecisionDeps, "index" | "config">,
  { rawHeaders, url = "" }: Pick<IncomingMessage, "rawHeaders" | "url">,
  { cause, key, asked }: { readonly cause: string; readonly key: KeyRecord; readonly asked: UsedOperation },
): Problem {
  const presented = extractCredential(rawHeaders, url, config.vendorHeader);
  // A placeholder of development may be no longer than a prefix.
  const isShown = "key" in presented && key.version !== UNSTORED_VERSION;
  const name = isShown ? `The key ${keyPrefix(presented.key)}` : "This key";
  if (cause === "bound_to_another_gateway") {
    const bound = index.publicIdOf(key.boundGatewayId ?? "");
    const where =
      bound === undefined ? "is gone: use another key" : `is at /g/${bound}/: call it there, or use another key`;
    return problem("forbidden", `${name} is for one gateway alone, which ${where}.`);
  }
  const needed = scopesIn(neededScopes(asked));
  const lacking = needed.length === 1 ? `the scope ${needed[0]}` : `a scope of these: ${listed(needed)}`;
  return problem(
    "forbidden",
    `${name} lacks ${lacking}. It has ${listed(scopesIn(key.scopes))}. Use another key, or have the scope added to this one.`,
  );
}
