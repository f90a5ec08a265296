import type { FastifyRequest } from "fastify";
import type { Author } from "../../store/audit/audit.ts";
import { authorOf, principalOf } from "../auth/management/author.ts";
import type { Principal } from "../auth/principal.ts";
import type { Management } from "./context.ts";
import type { ReasonBody } from "./request-schemas.ts";
import { type Rights, rightsOf } from "./rights.ts";

/** Context of a change: its author, their rights, and the means to make it. */
export type ChangeContext = Pick<Management, "store" | "keyring"> & {
  readonly principal: Principal;
  readonly author: Author;
  readonly rights: Rights;
};

/**
 * Returns the context of a change, with its author, their rights, and the reason that they give.
 *
 * @throws Problem `invalid_request` for a reason that holds what looks like a key
 */
export async function changeContextOf(
  { store, keyring }: Management,
  request: FastifyRequest,
  { reason }: ReasonBody,
): Promise<ChangeContext> {
  const author = authorOf(request, reason);
  const principal = principalOf(request);
  return { store, keyring, principal, author, rights: await rightsOf(store.db, principal) };
}
