import { useState } from 'react';
import type { ReactElement } from 'react';

/** Text to read or copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  return (
    <div className="stack tight">
      <div className="row between">
        <span className="label">{label}</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  );
}

export function CopyButton({ text }: { readonly text: string }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <button type="button" className="plain" onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
}

/** Characters that change the text direction; they can make a text look like another one. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Formatted JSON. Characters that change the text direction are shown as escapes. */
export function showJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? '';
  return text.replaceAll(turning, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
