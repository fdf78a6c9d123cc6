import { useEffect, useRef, useState } from 'react';
import type { ReactElement } from 'react';
import type { RuleLanguage } from './rule.ts';

type ModificationChoiceProps = {
  readonly value: string;
  readonly modifications: RuleLanguage['modifications'];
  readonly onChange: (name: string) => void;
};

/** The modification of a value before it is sent, searched by name and effect. */
export function ModificationChoice({ value, modifications, onChange }: ModificationChoiceProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Modification: {value}
      </button>
      {isOpen ? (
        <Choices
          value={value}
          modifications={modifications}
          onDone={(name) => {
            setOpen(false);
            if (name !== undefined) onChange(name);
          }}
        />
      ) : null}
    </>
  );
}

type ChoicesProps = Omit<ModificationChoiceProps, 'onChange'> & { readonly onDone: (name: string | undefined) => void };

function Choices({ value, modifications, onDone }: ChoicesProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const wanted = text.trim().toLowerCase();
  const shown = sortedModifications(modifications).filter(({ name, summary }) =>
    `${name} ${summary}`.toLowerCase().includes(wanted),
  );
  return (
    <dialog ref={dialog} aria-label="Choose a modification" onClose={() => onDone(undefined)}>
      <div className="stack">
        <h2>Modification</h2>
        <input
          type="search"
          aria-label="Search modifications"
          placeholder="Search, such as hash or URL"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {shown.length === 0 ? <p className="soft">No modification matches.</p> : null}
        <ul className="choices modifications">
          {shown.map(({ name, summary }) => (
            <li key={name}>
              <button type="button" aria-pressed={name === value} onClick={() => onDone(name)}>
                <strong>{name}</strong>
                <span className="hint">{summary}</span>
              </button>
            </li>
          ))}
        </ul>
        <div className="row">
          <button type="button" onClick={() => onDone(undefined)}>
            Cancel
          </button>
        </div>
      </div>
    </dialog>
  );
}

/** Sorts by name, with `None` first. */
function sortedModifications(modifications: RuleLanguage['modifications']): RuleLanguage['modifications'] {
  return modifications.toSorted(
    (a, b) => Number(b.name === 'None') - Number(a.name === 'None') || a.name.localeCompare(b.name),
  );
}
