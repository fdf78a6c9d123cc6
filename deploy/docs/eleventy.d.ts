/** The part of Eleventy's interface that the documentation uses; the package has no declarations of its own. */
declare module '@11ty/eleventy' {
  export type MarkdownToken = {
    type: string;
    tag: string;
    content: string;
    info: string;
    hidden: boolean;
    children: MarkdownToken[] | null;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
  };
  type RenderRule = (
    tokens: MarkdownToken[],
    index: number,
    options: unknown,
    env: unknown,
    self: { renderToken(tokens: MarkdownToken[], index: number, options: unknown): string },
  ) => string;
  export type MarkdownLibrary = {
    set(options: { html?: boolean; highlight?: (code: string, language: string) => string }): void;
    readonly core: {
      readonly ruler: {
        push(
          name: string,
          rule: (state: { tokens: MarkdownToken[]; env: { page: { inputPath: string } } }) => void,
        ): void;
      };
    };
    readonly renderer: { readonly rules: Record<string, RenderRule> };
  };
  export type EleventyConfig = {
    addTemplate(path: string, content: string, data: { permalink: string }): void;
    addTransform(
      name: string,
      transform: (this: { page: { inputPath: string } }, html: string) => string | Promise<string>,
    ): void;
    amendLibrary(name: 'md', amend: (library: MarkdownLibrary) => void): void;
    setTemplateFormats(formats: readonly string[]): void;
    setUseGitIgnore(isUsed: boolean): void;
  };
  export class Eleventy {
    constructor(
      input: string,
      output: string,
      options: {
        readonly quietMode: boolean;
        readonly configPath: undefined;
        config(config: EleventyConfig): { readonly markdownTemplateEngine: false };
      },
    );
    write(): Promise<unknown>;
  }
}
