import { useRef, useState } from 'react';
import type { ReactElement, RefObject } from 'react';

/** Text to read or copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div className="stack tight">
      <div className="row between">
        <span className="label">{label}</span>
        <CopyButton text={text} shown={shown} />
      </div>
      <pre ref={shown} tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  );
}

type CopyButtonProps = { readonly text: string; readonly shown: RefObject<HTMLPreElement | null> };

/** Copies the text, or selects it where it is shown: without TLS, browsers give a page no clipboard. */
function CopyButton({ text, shown }: CopyButtonProps): ReactElement {
  const [done, setDone] = useState<string>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      setDone('Selected: copy it with the keyboard');
    }
    setTimeout(() => setDone(undefined), 2_000);
  };
  return (
    <button type="button" className="plain" onClick={() => void copy()}>
      {done ?? 'Copy'}
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
