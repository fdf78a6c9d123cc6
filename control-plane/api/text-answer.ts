/** An answer of an endpoint that is text rather than JSON, for queries that ask for it. */
export class TextAnswer {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #value: unknown;
  readonly #render: (value: never) => string;

  /** `render` writes the text of a value, whose personal members are masked before where the key asks for it. */
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
