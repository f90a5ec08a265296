/** One thing that was looked at. `WRONG` needs somebody to do something, and the message says what. */
export type Finding = { readonly is: "ok" | "note" | "WRONG"; readonly message: string };

export const ok = (message: string): Finding => ({ is: "ok", message });
export const note = (message: string): Finding => ({ is: "note", message });
export const wrong = (message: string): Finding => ({ is: "WRONG", message });
