package m;

import org.junit.jupiter.api.Test;

abstract class AbstractBase {
    abstract int value();

    @Test
    void inherited() {
        org.junit.jupiter.api.Assertions.assertEquals(1, value());
    }
}
