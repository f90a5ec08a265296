/** The commit that the package was built of: its build writes it here. Null in a checkout. */
export const COMMIT: string | null = null;
