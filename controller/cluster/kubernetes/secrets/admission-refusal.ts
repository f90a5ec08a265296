/** Finds the admission control that refuses a Secret, as the API server names it. */

/** Pattern for the name of a quota, policy or webhook: such a name takes no text that could be part of a Secret. */
const NAME = "[a-z0-9][-a-z0-9.]{0,252}";

/** Beginnings of the API server's messages; the part in parentheses is shown. */
const REFUSALS = [
  `secrets "${NAME}" is forbidden: (exceeded quota: ${NAME}),`,
  `secrets "${NAME}" is forbidden: (ValidatingAdmissionPolicy '${NAME}'(?: with binding '${NAME}')? denied request)\\b`,
  // A MutatingAdmissionPolicy whose change fails.
  `(policy '${NAME}' with binding '${NAME}' denied request)\\b`,
  `(admission webhook "${NAME}" denied the request)\\b`,
  // A webhook that has not answered, or not as it should, and whose failurePolicy is Fail.
  `Internal error occurred: (failed calling webhook "${NAME}"):`,
].map((text) => new RegExp(`^${text}`));

/**
 * Names the quota, ValidatingAdmissionPolicy or webhook that refuses a Secret. What follows in the message is the
 * refuser's own text, which may quote the Secret: it is left out.
 *
 * @param message of the API server's Status
 * @returns undefined if the message is of another form
 */
export function admissionRefusal(message: string): string | undefined {
  for (const refusal of REFUSALS) {
    const named = refusal.exec(message)?.[1];
    if (named !== undefined) return named;
  }
  return undefined;
}
