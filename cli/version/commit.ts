/** Commit that the package was built from. The build writes it into the compiled file; null in a checkout. */
export const COMMIT: string | null = null;
