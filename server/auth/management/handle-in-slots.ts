import type { preHandlerHookHandler } from "fastify";
import { CallerLeftError } from "../../../store/database/errors.ts";
import { inManagementSlots } from "../../../store/database/management-slots.ts";
import { SAFE_METHODS } from "../../http/safe-methods.ts";
import { type ManagedBodyDeps, managedBodyHolder } from "./body-holder.ts";

/** Signal that is never aborted: a change goes on although its caller has left. */
const STAYS = new AbortController().signal;

/**
 * Creates a hook that has the handlers of management requests and of the console's pages ask the database in the slots
 * of the caller's team.
 */
export function handleInSlots({ index }: Pick<ManagedBodyDeps, "index">): preHandlerHookHandler {
  return (request, reply, done) => {
    const { managementPrincipal, raw } = request;
    if (managementPrincipal === null) return done();
    const { teamId } = managedBodyHolder(index, managementPrincipal);
    const isChange = !SAFE_METHODS.has(raw.method ?? "");
    inManagementSlots({ teamId, signal: isChange ? STAYS : leftBy(reply.raw), isChange }, done);
  };
}

function leftBy(response: { once(event: "close", listener: () => void): unknown }): AbortSignal {
  const leaving = new AbortController();
  response.once("close", () => leaving.abort(new CallerLeftError("the caller has left")));
  return leaving.signal;
}
