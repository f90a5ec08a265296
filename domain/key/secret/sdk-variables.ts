import type { Dialect } from "../../access/key-record.ts";

type SdkVariables = {
  /** Name of the variable for the key. */
  readonly key: string;
  /** Name of the variable for the base URL. */
  readonly baseUrl: string;
  /** Path that the SDK expects after the gateway's URL. */
  readonly path: string;
  /** Name of a variable that the SDK takes for the key before its own. */
  readonly readFirst?: string;
};

/** The variables that the official SDK of each dialect reads by itself. */
export const SDK_VARIABLES: Readonly<Record<Dialect, SdkVariables>> = {
  openai: { key: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL", path: "/v1" },
  gemini: { key: "GEMINI_API_KEY", baseUrl: "GOOGLE_GEMINI_BASE_URL", path: "", readFirst: "GOOGLE_API_KEY" },
  anthropic: { key: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL", path: "" },
};

/** Returns the URL of a gateway, below the server's URL. */
export function gatewayUrl(publicUrl: string, publicId: string): string {
  return `${publicUrl}/g/${publicId}`;
}
