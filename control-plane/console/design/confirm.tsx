import { useEffect, useId, useRef, useState } from 'react';
import type { FormEvent, ReactElement, ReactNode } from 'react';
import { ErrorNote } from './feedback.tsx';
import { Field } from './field.tsx';

export type ConfirmProps = {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action: string;
  readonly isDanger?: boolean;
  /** Label of the other button. */
  readonly cancel?: string;
  /** Text to type before confirming. */
  readonly typed?: string;
  readonly onDone: () => void;
  readonly onConfirm: () => Promise<unknown>;
};

/** A dialog that confirms an action and shows its error. */
export function Confirm({
  title,
  children,
  action,
  isDanger,
  cancel = 'Cancel',
  typed,
  onDone,
  onConfirm,
}: ConfirmProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const headingId = useId();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onDone();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={headingId} onClose={onDone}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id={headingId}>{title}</h2>
        {children}
        {typed === undefined ? null : (
          <Field label={`Type ${typed} to confirm`}>
            {(ids) => (
              <input {...ids} autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} />
            )}
          </Field>
        )}
        <ErrorNote error={error} />
        <div className="row">
          <button
            type="submit"
            className={isDanger === true ? 'danger' : 'primary'}
            disabled={isBusy || (typed !== undefined && text !== typed)}
          >
            {isBusy ? 'Working …' : action}
          </button>
          <button type="button" onClick={onDone}>
            {cancel}
          </button>
        </div>
      </form>
    </dialog>
  );
}
