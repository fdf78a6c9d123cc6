/** An answer of an endpoint that is text rather than JSON, for queries that ask for it. */
export class TextAnswer {
  readonly contentType: string;
  readonly text: string;
  constructor(contentType: string, text: string) {
    this.contentType = contentType;
    this.text = text;
  }
}
