import type { ServiceError } from "@grpc/grpc-js";
import providerMessages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import { errorMessage } from "../../../domain/error-text.ts";
import { redactKeys } from "../../../domain/redact.ts";
import { explainRefusal, Refusal, type Subject } from "./api/refusal.ts";
import { withoutSecrets } from "./check.ts";
import { Any, grpc } from "./engine/protocol.ts";
import { structOf } from "./engine/structs.ts";
import { HalfDoneError } from "./lifecycle.ts";

/** Longest text that fits the protocol's headers. Half a character, which the cut may leave, does not fit either. */
const MAX_LENGTH = 2_000;

/**
 * Returns an error in the engine's form: its text is the resource's diagnostic, and half-done work is kept in the
 * state.
 *
 * @param secrets texts that must not be shown, wherever they come from
 */
export function failureOf(
  error: unknown,
  subject: Subject | undefined,
  secrets: readonly string[],
): Partial<ServiceError> {
  const text = withoutSecrets(textOf(error, subject), secrets).slice(0, MAX_LENGTH).toWellFormed();
  const code = grpc.status.UNKNOWN;
  if (!(error instanceof HalfDoneError)) return { code, details: text };
  const metadata = new grpc.Metadata();
  metadata.add("grpc-status-details-bin", halfDone(error, text));
  return { code, details: text, metadata };
}

function textOf(error: unknown, subject: Subject | undefined): string {
  if (error instanceof HalfDoneError) return textOf(error.cause, subject);
  if (error instanceof Refusal && subject !== undefined) {
    return redactKeys(`${subject.noun} "${subject.name}": ${explainRefusal(error, subject)}`);
  }
  return errorMessage(error);
}

function halfDone({ made, inputs }: HalfDoneError, reason: string): Buffer {
  const detail = new providerMessages.ErrorResourceInitFailed()
    .setId(made.id)
    .setProperties(structOf(made.outputs))
    .setInputs(structOf(inputs));
  detail.setReasonsList([reason]);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new statusMessages.Status();
  status.setCode(grpc.status.UNKNOWN);
  status.setMessage(reason);
  status.addDetails(packed);
  return Buffer.from(status.serializeBinary());
}
