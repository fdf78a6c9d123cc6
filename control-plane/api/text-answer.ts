/** A reply as text instead of JSON, for queries that request it. */
export class TextAnswer {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #value: unknown;
  readonly #render: (value: never) => string;

  /** `render` writes a value as text; personal members are masked first if the key requires it. */
  constructor(
    contentType: string,
    value: unknown,
    {
      render = String,
      headers = {},
    }: { render?: (value: never) => string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.contentType = contentType;
    this.headers = headers;
    this.#value = value;
    this.#render = render;
  }

  text(mask: (value: unknown) => unknown): string {
    return this.#render(mask(this.#value) as never);
  }
}
