/** Limits of texts in rules. Separate from the compilers, as schemas need them. */
export const pathCharactersMax = 500;
export const pathSegmentsMax = 20;
export const operandTextMax = 10_000;
export const operandItemsMax = 1_000;
