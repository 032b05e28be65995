-- Most often what is new in a message is the beginning of its text: then its length says it all, and it is not stored a second time.
ALTER TABLE messages ALTER COLUMN extracted_text DROP NOT NULL;
ALTER TABLE messages ADD COLUMN extracted_characters integer CHECK (extracted_characters >= 0);
ALTER TABLE messages ADD CHECK (num_nulls(extracted_text, extracted_characters) = 1);
