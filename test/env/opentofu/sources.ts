/** The providers by name, as packages of infra/terraform: ours, and one that stands for a secret store's. */
export const SOURCES = { keyplane: ".", teststore: "./internal/teststore" } as const;
