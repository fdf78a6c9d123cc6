/** A result: where it leads, and what kind of thing it is. */
export type FoundPlace = { readonly label: string; readonly what: string; readonly to: string };
