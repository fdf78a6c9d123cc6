/** Limits of the texts that rules are written in. Data of their own: schemas need them where nothing is compiled. */
export const pathCharactersMax = 500;
export const pathSegmentsMax = 20;
export const operandTextMax = 10_000;
export const operandItemsMax = 1_000;
